// What all of the library uses of Foundation: dates, data, JSON and the file manager. Where Foundation comes in parts the smallest is
// enough, without calendars, formats and ICU; on Apple's systems it comes as a whole.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
