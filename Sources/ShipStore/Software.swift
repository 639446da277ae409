/// The name of this program.
public enum Software {
    public static let version = "0.1.0"
    /// As it stands in manifests and greetings.
    public static let name = "ship-store \(version)"
}
