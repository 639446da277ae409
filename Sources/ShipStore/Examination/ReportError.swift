public import SystemPackage

/// Why a report is not written.
public enum ReportError: Error, Hashable, Sendable {
    /// It would destroy what it describes, or a part of it.
    case partOfSubject(FilePath)
    /// Another file is there already.
    case inTheWay(FilePath)
}

extension ReportError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .partOfSubject(let path): "\(path) belongs to what is inspected, and would be destroyed"
        case .inTheWay(let path): "\(path) is there already, and is no page of this program"
        }
    }
}
