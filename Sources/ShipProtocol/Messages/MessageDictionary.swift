/// What a deflated message may refer to before its first byte: the words of messages, and those that most manifests have last,
/// where a reference to them is shortest. It saves about 180 bytes a manifest, a fifth to a half of it.
///
/// Source: `Protocol/message-dictionary.txt`, `Protocol/README.md` section 3.5.
enum MessageDictionary {
    static let bytes = Array(lines.joined().utf8)

    private static let lines = [
        #"{"encodings":["delta","columns"],"holds":[{"kept":["manifest":"","name":""}],"software":"ship-store 0.1.0"}"#,
        #"{"wants":[{"base":"encodings":["blocks"],"part":0},{"part":1}]}"#,
        #"{"generation":1,"name":"","outcome":"unchanged","sha256":"","outcome":"installed","sha256":""#,
        #""missingExternalFiles":[{"folder":"_FBF","name":"omissions":{"externalFiles":[{"folder":"_EXTERNAL_DATA","name":""#,
        #""history":true,"tables":["metadata":{"requires":["gpkg_sqlite_sequence_content_docsize_segments_segdir_stat_config_data_idx_node_parent_rowid_fts"#,
        #"UTF-16leUTF-16bepageSize":1024,"pageSize":8192,"pageSize":16384,"#,
        #""rows":0},"ACHANGE":{"digest":"ATRANSACTION":{"digest":"ATRANSACTIONSTRING":{"digest":""#,
        #"{"coreData":{"entityVersionHashes":{"="},"createdAt":"2026-10T12:30:00Z","externalFiles":[{"folder":"_EXTERNAL_DATA","name":""#,
        #"","sha256":"","size":},"identity":"-4","name":""#,
        #"","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},"store":{"applicationID":0,"pageCount":1,"pageSize":4096,"schemaSHA256":""#,
        #"","sha256":"0123456789abcdef","size":","textEncoding":"UTF-8","userVersion":0},"tables":{""#,
        #"":{"digest":"e3b0c44298fc1c14","rows":0},"Z_METADATA":{"digest":"","rows":1},"Z_MODELCACHE":{"digest":"","rows":1},"Z_PRIMARYKEY":{"digest":"","rows":1}}}"#,
    ]
}
