// Written by Protocol/columns_dictionary.py.

/// What the text area of each segment may refer to, as if it stood before it.
///
/// Source: `Protocol/columns-dictionary.txt`.
enum SegmentDictionary {
    static let bytes: [UInt8] = characters.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }

    private static let characters = """
         INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL UNIQUE, VARCHAR(255) NOT NULL DEFAULT '', TIMESTAMP DEFAULT C\
        URRENT_TIMESTAMP, DATETIME NOT NULL, BOOLEAN NOT NULL DEFAULT 0, NUMERIC(10,2) NOT NULL, NVARCHAR(160) NO\
        T NULL, DECIMAL, DOUBLE PRECISION, REAL NOT NULL DEFAULT 0.0, BLOB NOT NULL, TEXT NOT NULL COLLATE NOCASE\
        , TEXT COLLATE RTRIM,  CHECK (length(name) > 0), CONSTRAINT PRIMARY KEY (\"id\"), FOREIGN KEY (\"user_id\
        \") REFERENCES \"users\" (\"id\") ON DELETE CASCADE ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED) ON \
        DELETE SET NULL, ON DELETE RESTRICT, ON CONFLICT REPLACE, ON CONFLICT IGNORE, ON CONFLICT FAIL, GENERATED \
        ALWAYS AS () STORED, WITHOUT ROWID, STRICT, CREATE TABLE IF NOT EXISTS CREATE TEMP TABLE CREATE UNIQUE IN\
        DEX IF NOT EXISTS CREATE VIEW AS SELECT FROM LEFT JOIN INNER JOIN USING WHERE IS NOT NULL GROUP BY ORDER \
        BY DESC LIMIT DISTINCT COUNT(*) COALESCE(CREATE TRIGGER AFTER INSERT ON WHEN new.id IS NOT NULL BEGIN UPD\
        ATE SET = = old. WHERE id = new.id; ENDCREATE TRIGGER BEFORE DELETE ON FOR EACH ROW BEGIN DELETE FROM WHE\
        RE rowid = old.rowid; SELECT RAISE(ABORT, 'constraint failed'); ENDCREATE TRIGGER AFTER UPDATE OF ON BEGI\
        N INSERT INTO VALUES (new.rowid, new.); ENDcreated_at updated_at deleted_at last_modified timestamp descr\
        iption identifier latitude longitude username password email address country language category quantity s\
        tatus priority position parent_id group_id message content subject comment version settings preferences C\
        REATE VIRTUAL TABLE USING fts3(tokenize=porter) CREATE VIRTUAL TABLE USING fts4(content=\"\", tokenize=un\
        icode61) CREATE TABLE 'fts_content'(docid INTEGER PRIMARY KEY, 'c0content')CREATE TABLE 'fts_segments'(bl\
        ockid INTEGER PRIMARY KEY, block BLOB)CREATE TABLE 'fts_segdir'(level INTEGER,idx INTEGER,start_block INT\
        EGER,leaves_end_block INTEGER,end_block INTEGER,root BLOB,PRIMARY KEY(level, idx))CREATE TABLE 'fts_docsi\
        ze'(docid INTEGER PRIMARY KEY, size BLOB)CREATE TABLE 'fts_stat'(id INTEGER PRIMARY KEY, value BLOB)CREAT\
        E VIRTUAL TABLE USING fts5(title, body, content='', content_rowid='id', tokenize='porter unicode61')CREAT\
        E TABLE 'fts_data'(id INTEGER PRIMARY KEY, block BLOB)CREATE TABLE 'fts_idx'(segid, term, pgno, PRIMARY K\
        EY(segid, term)) WITHOUT ROWIDCREATE TABLE 'fts_content'(id INTEGER PRIMARY KEY, c0, c1, c2)CREATE TABLE \
        'fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB)CREATE TABLE 'fts_config'(k PRIMARY KEY, v) WITHOUT ROWIDCR\
        EATE VIRTUAL TABLE USING rtree(id, minx, maxx, miny, maxy)CREATE VIRTUAL TABLE USING rtree_i32(CREATE TAB\
        LE \"rtree_node\"(nodeno INTEGER PRIMARY KEY,data)CREATE TABLE \"rtree_parent\"(nodeno INTEGER PRIMARY KE\
        Y,parentnode)CREATE TABLE \"rtree_rowid\"(rowid INTEGER PRIMARY KEY,nodeno)CREATE TABLE gpkg_spatial_ref_\
        sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL, organizatio\
        n_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT, definition_12_063 TEXT NOT NU\
        LL)CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier \
        TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M\
        :%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r\
        _srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))CREATE TABLE gpkg_geometry_columns (\
        table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT \
        NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_nam\
        e), CONSTRAINT uk_gc_table_name UNIQUE (table_name), CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFEREN\
        CES gpkg_contents(table_name), CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys \
        (srs_id))CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, d\
        efinition TEXT NOT NULL, scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extensio\
        n_name))CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY, srs_id INTEGER NOT NULL, \
        min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL, max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL, CONSTRAINT fk\
        _gtms_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name)CREATE TABLE gpkg_tile_matr\
        ix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL, matrix_width INTEGER NOT NULL, matrix_height I\
        NTEGER NOT NULL, tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL, \
        pixel_y_size DOUBLE NOT NULL, CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level), CONSTRAINT fk_tmm_t\
        able_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name) (id INTEGER PRIMARY KEY AUTOINCRE\
        MENT, zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLO\
        B NOT NULL, UNIQUE (zoom_level, tile_column, tile_row))GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WG\
        S 84\",6378137,298.257223563,AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwi\
        ch\",0,AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.0174532925199433,AUTHORITY[\"EPSG\",\"9122\"]],AUT\
        HORITY[\"EPSG\",\"4326\"]]PROJCS[\"WGS 84 / Pseudo-Mercator\",PROJECTION[\"Mercator_1SP\"],PARAMETER[\"ce\
        ntral_meridian\",0],PARAMETER[\"scale_factor\",1],PARAMETER[\"false_easting\",0],PARAMETER[\"false_northi\
        ng\",0],UNIT[\"metre\",1,AUTHORITY[\"EPSG\",\"9001\"]],AXIS[\"X\",EAST],AXIS[\"Y\",NORTH]Undefined cartes\
        ian SRSUndefined geographic SRSundefined cartesian coordinate reference systemlongitude/latitude coordina\
        tes in decimal degrees on the WGS 84 spheroidCREATE TRIGGER \"rtree_geom_insert\" AFTER INSERT ON WHEN (n\
        ew.\"geom\" NOT NULL AND NOT ST_IsEmpty(NEW.\"geom\")) BEGIN INSERT OR REPLACE INTO \"rtree_geom\" VALUES \
        (NEW.\"fid\", ST_MinX(NEW.\"geom\"), ST_MaxX(NEW.\"geom\"), ST_MinY(NEW.\"geom\"), ST_MaxY(NEW.\"geom\"))\
        ; ENDgpkg_rtree_indexhttp://www.geopackage.org/spec120/#extension_rtreewrite-onlyread-writeCREATE TABLE a\
        ndroid_metadata (locale TEXT)CREATE TABLE room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT)CR\
        EATE TABLE `workspec` (`id` TEXT NOT NULL, `state` INTEGER NOT NULL, PRIMARY KEY(`id`), FOREIGN KEY(`work\
        _spec_id`) REFERENCES `WorkSpec`(`id`) ON UPDATE CASCADE ON DELETE CASCADE )CREATE INDEX `index_` ON `CRE\
        ATE UNIQUE INDEX `index__id` ON `` (`id`)`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `name` TEXT NOT \
        NULL, `timestamp` INTEGER NOT NULL, `value` REAL NOT NULL, `data` BLOB)CREATE TABLE sqlite_stat1(tbl,idx,\
        stat)CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)CREATE TABLE grdb_migrations (identifier TEXT \
        NOT NULL PRIMARY KEY)CREATE TABLE \"django_migrations\" (\"id\" integer NOT NULL PRIMARY KEY AUTOINCREMEN\
        T, \"app\" varchar(255) NOT NULL, \"name\" varchar(255) NOT NULL, \"applied\" datetime NOT NULL)CREATE TA\
        BLE \"schema_migrations\" (\"version\" varchar NOT NULL PRIMARY KEY)CREATE TABLE alembic_version (version\
        _num VARCHAR(32) NOT NULL)CREATE TABLE sqlite_sequence(name,seq)sqlite_autoindex_{\"id\":,\"name\":\"\",\
        \"type\":\"\",\"value\":\"\",\"title\":\"\",\"url\":\"https://www.\",\"created\":\"\",\"items\":[{\"text\
        \":\"\",\"data\":{\"key\":\"\",\"enabled\":true,\"count\":0,\"items\":[],\"description\":\"\",\"version\"\
        :\"1.0\",\"timestamp\":\"null,false},https://www.http://www..com/.org/index.html?id=image/jpegimage/pngap\
        plication/jsontext/plain; charset=utf-8application/octet-stream<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
        \u{a}<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.\
        dtd\">\u{a}<plist version=\"1.0\">\u{a}<dict>\u{a}\u{9}<key></key>\u{a}\u{9}<string></string>\u{a}\u{9}<t\
        rue/>\u{a}\u{9}<integer></integer>\u{a}\u{9}<array>\u{a}</dict>\u{a}</plist>\u{a}\u{89}PNG\u{d}\u{a}\
        \u{1a}\u{a}\u{0}\u{0}\u{0}\u{d}IHDR\u{0}\u{0}\u{0}\u{8}\u{6}\u{0}\u{0}\u{0}\u{0}sRGB\u{0}\u{ae}\u{ce}\
        \u{1c}\u{e9}\u{0}\u{0}\u{0}\u{4}gAMA\u{0}\u{0}\u{b1}\u{8f}\u{b}\u{fc}a\u{5}\u{0}\u{0}\u{0}\u{9}pHYs\u{0}\
        \u{0}\u{b}\u{13}\u{0}\u{0}\u{b}\u{13}\u{1}\u{0}\u{9a}\u{9c}\u{18}\u{0}\u{0}IDATx\u{0}\u{0}\u{0}\u{0}IEND\
        \u{ae}B`\u{82}\u{ff}\u{d8}\u{ff}\u{e0}\u{0}\u{10}JFIF\u{0}\u{1}\u{1}\u{0}\u{0}\u{1}\u{0}\u{1}\u{0}\u{0}\
        \u{ff}\u{db}\u{0}C\u{0}[NS.relativeWNS.baseUNSURL\u{d2}\u{0}\u{0}VNSUUID\\NS.uuidbytesO\u{10}\u{10}\u{d2}\
        \u{0}\u{0}_\u{10}\u{f}NSMutableStringYNS.string_\u{10}\u{12}NSAttributedString\\NSAttributesXNSString_\
        \u{10}\u{d}NSMutableDataWNS.dataVNSData_\u{10}\u{10}NSDecimalNumberXNSNumberWNSValueVUIFontWUIColorWNSCol\
        orWUIImage\\NSColorSpaceUNSRGB_\u{10}\u{13}NSParagraphStyleXNSLocaleZNSTimeZoneVNSNull_\u{10}\u{f}NSDateC\
        omponents_\u{10}\u{11}NSMutableIndexSet_\u{10}\u{1a}CLLocationXlatitudeYlongitude\u{d2}\u{0}\u{0}Z$classn\
        ameX$classesUNSSet\u{a2}\u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}_\u{10}\u{c}NSMutableSet\u{a3}\u{0}\u{1}\u{0}X\
        NSObject\u{d2}\u{0}\u{0}WNS.timeV$class#A\u{d2}\u{0}\u{0}VNSDate\u{a2}\u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}\
        Z$classnameX$classes^NSMutableArray\u{a3}\u{0}\u{1}\u{0}WNSArrayXNSObject\u{d2}\u{0}\u{0}WNSArray\u{a2}\
        \u{1}\u{0}XNSObject\u{d3}\u{0}\u{0}\u{0}WNS.keysZNS.objectsV$class\u{a1}\u{0}\u{80}\u{2}\u{a1}\u{0}\u{80}\
        \u{3}\u{80}\u{4}\u{d2}\u{0}\u{0}Z$classnameX$classes_\u{10}\u{13}NSMutableDictionary\u{a3}\u{0}\u{1}\u{0}\
        \\NSDictionaryXNSObject\u{d2}\u{0}\u{0}\\NSDictionary\u{a2}\u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}\u{0}\u{0}Z\
        NS.objectsV$class\u{a2}\u{0}\u{0}\u{80}\u{2}\u{80}\u{3}\u{80}\u{4}\u{80}\u{5}\u{80}\u{6}\u{80}\u{7}\u{80}\
        \u{8}\u{80}\u{9}\u{80}\u{a}\u{80}\u{b}\u{80}\u{c}\u{d4}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{2}X$versionY\
        $archiverT$topX$objects\u{12}\u{0}\u{1}\u{86}\u{a0}_\u{10}\u{f}NSKeyedArchiver\u{d1}\u{0}\u{0}Troot\u{80}\
        \u{1}\u{a4}\u{0}\u{0}\u{4}\u{0}U$null\u{d2}\u{0}\u{0}\u{d4}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}X$vers\
        ionX$objectsY$archiverT$top\u{12}\u{0}\u{1}\u{86}\u{a0}\u{a6}\u{0}\u{0}U$null\u{d8}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}_\u{10}\u{1e}NSStoreModelVersionIdentifiers_\u{10}\u{1b}NSPersistenceMaximumFram\
        eworkVersion[NSStoreType_\u{10}\u{12}_NSAutoVacuumLevel_\u{10}\u{1f}NSStoreModelVersionHashesDigest_\
        \u{10}\u{19}NSStoreModelVersionHashes_\u{10}\u{1d}NSPersistenceFrameworkVersion_\u{10} NSStoreModelVersio\
        nHashesVersion\u{a1}\u{0}Q1VSQLiteQ2\u{a0}VSQLiteQ2_\u{10}XO\u{10} _\u{10}.NSStoreModelVersionChecksumKey\
        _\u{10},=_\u{10}+_NSStoreAncillaryModelVersionHashesMetadataKey\u{d1}\u{0}\u{0}_\u{10}\u{1e}NSPersistentH\
        istoryTrackingKey\u{d3}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}VCHANGE[TRANSACTION_\u{10}\u{11}TRANSACTIONSTRINGO\
        \u{10} \u{10}\u{3}\u{11}\u{3}\u{11}\u{4}\u{11}\u{5}\u{10}\u{3}TRANSACTIONCHANGETRANSACTIONSTRINGZ_PRIMARY\
        KEYZ_METADATAZ_MODELCACHEtableACHANGEATRANSACTIONATRANSACTIONSTRINGindexACHANGE_ZTRANSACTIONID_INDEXATRAN\
        SACTION_ZAUTHORTS_INDEXATRANSACTION_ZBUNDLEIDTS_INDEXATRANSACTION_ZCONTEXTNAMETS_INDEXATRANSACTION_ZPROCE\
        SSIDTS_INDEXZ_TRANSACTION_TransactionAuthorIndexZ_TRANSACTION_TransactionTimestampIndexZ_TRANSACTIONSTRIN\
        G_UNIQUE_NAMECREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE I\
        NTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOM\
        BSTONE1 BLOB, ZTOMBSTONE2 BLOB, ZTOMBSTONE3 BLOB )\u{0}CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY K\
        EY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCES\
        SIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VAR\
        CHAR, ZQUERYGEN BLOB )\u{0}CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_O\
        PT INTEGER, ZNAME VARCHAR )\u{0}CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)\
        \u{0}CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)\u{0}CREATE INDEX ATRANSACTION_\
        ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)\u{0}CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATR\
        ANSACTION (ZCONTEXTNAMETS)\u{0}CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS\
        )\u{0}CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)\u{0}\
        CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)\u{0}\
        CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)\u{0} \
        ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZIDENTIFIER VARCHAR, ZTITLE VARC\
        HAR, ZTYPE INTEGER, ZCREATIONDATE TIMESTAMP, ZMODIFICATIONDATE TIMESTAMP, ZLASTMODIFIEDDATE TIMESTAMP, ZU\
        NIQUEIDENTIFIER VARCHAR, ZUUID BLOB, ZURL VARCHAR, ZVALUE FLOAT, ZPRICE DECIMAL, ZDATA BLOB , CONSTRAINT \
        UNIQUE (ZIDENTIFIER))\u{0} INTEGER, Z_FOK_ INTEGER, PRIMARY KEY (Z_1, Z_2) )\u{0}CREATE UNIQUE INDEX _BYN\
        AME ON  (ZNAME COLLATE BINARY ASC)\u{0}CREATE INDEX Z_INDEX ON Z (Z)\u{0}CREATE TABLE Z ( Z_PK INTEGER PR\
        IMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VA\
        RCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)\u{0}CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID \
        VARCHAR(255), Z_PLIST BLOB)\u{0}CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)\u{0}
        """
}
