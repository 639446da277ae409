extension QRCode {
    /// In which colours a terminal shows it.
    public enum Colours: Hashable, Sendable {
        /// Black on white, whatever the terminal's own are, by ECMA-48's sequences.
        case blackOnWhite
        /// None said: light modules are drawn, for light text on a dark ground.
        case ofTheTerminal
    }

    /// Lines of half blocks: one character is two modules, one above the other.
    public func lines(_ colours: Colours) -> [String] {
        let edge = Self.quietZone
        return stride(from: -edge, to: side + edge, by: 2).map { row in
            let line = (-edge..<side + edge).map { column in
                // Under the last row there is nothing to draw.
                let bottomIsLight = row + 1 < side + edge && !self[row: row + 1, column: column]
                switch (!self[row: row, column: column], bottomIsLight) {
                case (true, true): return "█"
                case (true, false): return "▀"
                case (false, true): return "▄"
                case (false, false): return " "
                }
            }.joined()
            return colours == .blackOnWhite ? "\u{1B}[38;5;231;48;5;16m\(line)\u{1B}[0m" : line
        }
    }
}
