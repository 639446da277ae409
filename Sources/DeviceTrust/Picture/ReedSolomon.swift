/// The check bytes of a QR code: Reed-Solomon over GF(2^8) with the polynomial 0x11D.
///
/// Source: ISO/IEC 18004:2015 section 7.5 and annex A.
enum ReedSolomon {
    /// - Returns: The remainder of `data` times x^count by the generator polynomial of degree `count`.
    static func checkBytes(of data: [UInt8], count: Int) -> [UInt8] {
        let generator = generator(ofDegree: count)
        var remainder = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for (index, coefficient) in generator.enumerated() {
                remainder[index] ^= product(coefficient, factor)
            }
        }
        return remainder
    }

    /// (x - 1)(x - 2)(x - 4)...: its coefficients from the second highest down; the highest is 1.
    private static func generator(ofDegree degree: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in coefficients.indices {
                let next = index + 1 < degree ? coefficients[index + 1] : 0
                coefficients[index] = product(coefficients[index], root) ^ next
            }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product <<= 1
            if product & 0x100 != 0 { product ^= 0x11D }
            if right >> bit & 1 == 1 { product ^= UInt16(left) }
        }
        return UInt8(product)
    }
}
