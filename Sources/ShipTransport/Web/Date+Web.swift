package import EssentialFoundation
import ShipProtocol

extension Date {
    /// A time as web servers write it: `Fri, 20 Nov 2026 19:04:05 GMT` [RFC 9110 section 5.6.7].
    ///
    /// - Returns: `nil` for what is none, and for one of the two obsolete forms.
    package init?(webDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        guard let time = Timestamp("\(words[3])-\(number)-\(words[1])T\(words[4])Z") else { return nil }
        self = time.date
    }
}
