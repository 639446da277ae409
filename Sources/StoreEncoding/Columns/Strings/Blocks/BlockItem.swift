/// Literals, and then a copy of earlier bytes. The last item of a block has no length and no distance.
struct BlockItem: Hashable {
    let literals: Int
    let length: Int
    let distance: Int
}
