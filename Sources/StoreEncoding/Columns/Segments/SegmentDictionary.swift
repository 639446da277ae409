// Written by Protocol/columns_dictionary.py.

/// The dictionary that the text area of each segment may refer to, as if it stood before it.
///
/// Source: `Protocol/columns-dictionary.txt`.
extension MatchDictionary {
    static let builtInBytes: [UInt8] = characters.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }

    private static let characters = """
        kCLLocationCodingKeyCoordinateLatitude\0kCLLocationCodingKeyCoordinateLongitude\0kCLLocationCodingKeyHori\
        zontalAccuracy\0kCLLocationCodingKeyAltitude\0kCLLocationCodingKeyVerticalAccuracy\0kCLLocationCodingKeyS\
        peed\0kCLLocationCodingKeySpeedAccuracy\0kCLLocationCodingKeyCourse\0kCLLocationCodingKeyCourseAccuracy\0\
        kCLLocationCodingKeyTimestamp\0kCLLocationCodingKeyType\0kCLLocationCodingKeyLifespan\0kCLLocationCodingK\
        eyConfidence\0kCLLocationCodingKeyFloor\0CLLocation\0RecordType\0RecordID\0RecordName\0ZoneID\0zoneName\0\
        ownerName\0databaseScopeKey\0anonymousCKUserIDKey\0ProtectionData\0PreviousProtectionEtag\0ZoneProtection\
        Etag\0ETag\0KnownToServer\0RecordCtime\0RecordMtime\0CreatorUserRecordID\0LastModifiedUserRecordID\0Modif\
        iedByDevice\0ConflictLoserEtags\0ParentReference\0PreviousParentReference\0HasUpdatedParentReference\0Sha\
        reReference\0PreviousShareReference\0HasUpdatedShareReference\0WantsPublicSharingKey\0WantsChainPCS\0Expi\
        rationDate\0Expired\0HasUpdatedExpiration\0PluginFields\0DisplayedHostname\0MutableEncryptedPublicSharing\
        Key\0BaseToken\0RoutingKey\0Permission\0_defaultZone\0_defaultOwner__\0CKRecordZoneID\0CKRecordID\0CKRefe\
        rence\0CKRecord\0CKServerChangeToken\0UISystemColorName\0UIColorComponentCount\0UIRed\0UIGreen\0UIBlue\0U\
        IAlpha\0UIWhite\0NSRGB\0NSWhite\0NSColorSpace\0NSColor\0UIColor\0NSFontNameAttribute\0NSFontSizeAttribute\
        \0UIFontDescriptorAttributes\0UIFontDescriptorOptions\0UIFontDescriptor\0UIFontName\0UIFontPointSize\0UIF\
        ontTraits\0UIFontTextStyleForScaling\0UIFontMaximumPointSizeAfterScaling\0UISystemFont\0NSName\0NSSize\0N\
        SfFlags\0NSFont\0UIFont\0NSTabStops\0NSAlignment\0NSWritingDirection\0NSParagraphStyle\0NSMutableParagrap\
        hStyle\0UIImageData\0UIScale\0UIImage\0NSString\0NSAttributeInfo\0NSAttributes\0NSMutableAttributedString\
        \0NSAttributedString\0NS.calendar\0NS.calidentifier\0NS.locale\0NS.firstweekdy\0NS.mincdays\0NSCalendar\0\
        NS.timezone\0NS.year\0NS.month\0NS.day\0NS.hour\0NS.minute\0NSDateComponents\0NS.identifier\0NSLocale\0NS\
        .name\0NSTimeZone\0NSDomain\0NSCode\0NSError\0NSRangeCount\0NSRangeData\0NSLocation\0NSLength\0NSMutableI\
        ndexSet\0NSIndexSet\0NS.mantissa\0NS.exponent\0NS.negative\0NS.compact\0NS.length\0NS.mantissa.bo\0NSDeci\
        malNumberPlaceholder\0NSDecimalNumber\0NS.special\0NS.rangeval.location\0NS.rangeval.length\0NS.pointval\
        \0NS.sizeval\0NS.rectval\0NS.intval\0NS.dblval\0NS.boolval\0NSNumber\0NSValue\0NS.key.0\0NS.object.0\0NSN\
        ull\0NSOrderedSet\0NS.count\0NS.relative\0NS.base\0NSURL\0NS.uuidbytes\0NSUUID\0NS.time\0NSDate\0NS.bytes\
        \0NS.data\0NSMutableData\0NSData\0NS.string\0NSMutableString\0NSSelectorName\0NSOperand\0NSArguments\0NSK\
        eyPath\0NSVariable\0NSConstantValueClassName\0NSConstantValue\0NSExpressionType\0NSConstantValueExpressio\
        n\0NSSelfExpression\0NSVariableExpression\0NSKeyPathSpecifierExpression\0NSFunctionExpression\0NSKeyPathE\
        xpression\0NSExpression\0NSNegate\0NSOptions\0NSOperatorType\0NSVariant\0NSModifier\0NSComparisonPredicat\
        eOperator\0NSEqualityPredicateOperator\0NSInPredicateOperator\0NSPredicateOperator\0NSLeftExpression\0NSR\
        ightExpression\0NSComparisonPredicate\0NSCompoundPredicateType\0NSSubpredicates\0NSCompoundPredicate\0NSP\
        redicate\0NSReverseNullOrder\0NSSelector\0NSSortDescriptor\0NSSortDescriptors\0NSValuesToFetch\0NSValuesT\
        oGroupBy\0NSHavingPredicate\0NSFetchOffset\0NSFetchLimit\0NSBatchSize\0NSResultType\0NSHasFetchRequestFla\
        gs\0NSFetchRequestFlags\0NSRelationshipKeyPathsForPrefetching\0NSAllocationType\0_NSFetchRequestEntityNam\
        e\0NSPersistentStoreRequest\0NSFetchRequest\0NSFetchedPropertyDescription\0NSFilteringPredicate\0NSDeriva\
        tionExpression\0NSDerivedAttributeDescription\0NSReferenceID\0NSUnderlyingProperty\0_NSPropertyDescriptio\
        nProxy\0NSIsAbstract\0NSIsIndexed\0NSIsTransient\0NSIsReadOnly\0NSRenamingIdentifier\0NSVersionHashModifi\
        er\0NSValidationPredicates\0NSValidationWarnings\0NSUserInfo\0NSSecureUnarchiveFromData\0NSPersistentHist\
        oryTombstoneAttributes\0NSCloudKitMirroringDelegateIgnoredPropertyKey\0NSIndexName\0NSPartialIndexPredica\
        te\0NSIndexElements\0NSFetchIndexElementType\0NSAscending\0NSFetchIndexElementDescription\0NSFetchIndexDe\
        scription\0NSFetchIndexDescriptions\0NSCompoundIndexes\0NSUniqueTuples\0_P\0NSPropertyName\0NSEntity\0NSI\
        sOptional\0NSFlagsKey\0NSAttributeType\0NSAttributeValueClassName\0NSDefaultValue\0NSValueTransformerName\
        \0NSAttributeDescription\0NSDestinationEntity\0_NSDestinationEntityName\0NSInverseRelationship\0_NSInvers\
        eRelationshipName\0NSMaxCount\0NSMinCount\0NSDeleteRule\0NSRelationshipDescription\0NSPropertyDescription\
        \0NSEntityName\0NSClassNameForEntity\0NSManagedObjectModel\0NSProperties\0NSSubentities\0NSSuperentity\0N\
        SEntityDescription\0NSEntities\0NSConfigurations\0NSFetchRequestTemplates\0NSVersionIdentifiers\0NSManage\
        dObject\0version\0searchMapping\0emptyToken\0keys\0length\0values\0__empty_slot_token_4c24_98dc_ac1e_b773\
        __\0NSKnownKeysMappingStrategy1\0NSKnownKeysMappingStrategy\0NSKnownKeysDictionary1\0NSKnownKeysDictionar\
        y\0 INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL UNIQUE, VARCHAR(255) NOT NULL DEFAULT '', TIMESTAMP DEFAUL\
        T CURRENT_TIMESTAMP, DATETIME NOT NULL, BOOLEAN NOT NULL DEFAULT 0, NUMERIC(10,2) NOT NULL, NVARCHAR(160) \
        NOT NULL, DECIMAL, DOUBLE PRECISION, REAL NOT NULL DEFAULT 0.0, BLOB NOT NULL, TEXT NOT NULL COLLATE NOCA\
        SE, TEXT COLLATE RTRIM,  CHECK (length(name) > 0), CONSTRAINT PRIMARY KEY ("id"), FOREIGN KEY ("user_id") \
        REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED) ON DELETE \
        SET NULL, ON DELETE RESTRICT, ON CONFLICT REPLACE, ON CONFLICT IGNORE, ON CONFLICT FAIL, GENERATED ALWAYS \
        AS () STORED, WITHOUT ROWID, STRICT, CREATE TABLE IF NOT EXISTS CREATE TEMP TABLE CREATE UNIQUE INDEX IF \
        NOT EXISTS CREATE VIEW AS SELECT FROM LEFT JOIN INNER JOIN USING WHERE IS NOT NULL GROUP BY ORDER BY DESC \
        LIMIT DISTINCT COUNT(*) COALESCE(CREATE TRIGGER AFTER INSERT ON WHEN new.id IS NOT NULL BEGIN UPDATE SET \
        = = old. WHERE id = new.id; ENDCREATE TRIGGER BEFORE DELETE ON FOR EACH ROW BEGIN DELETE FROM WHERE rowid \
        = old.rowid; SELECT RAISE(ABORT, 'constraint failed'); ENDCREATE TRIGGER AFTER UPDATE OF ON BEGIN INSERT \
        INTO VALUES (new.rowid, new.); ENDcreated_at updated_at deleted_at last_modified timestamp description id\
        entifier latitude longitude username password email address country language category quantity status pri\
        ority position parent_id group_id message content subject comment version settings preferences CREATE VIR\
        TUAL TABLE USING fts3(tokenize=porter) CREATE VIRTUAL TABLE USING fts4(content="", tokenize=unicode61) CR\
        EATE TABLE 'fts_content'(docid INTEGER PRIMARY KEY, 'c0content')CREATE TABLE 'fts_segments'(blockid INTEG\
        ER PRIMARY KEY, block BLOB)CREATE TABLE 'fts_segdir'(level INTEGER,idx INTEGER,start_block INTEGER,leaves\
        _end_block INTEGER,end_block INTEGER,root BLOB,PRIMARY KEY(level, idx))CREATE TABLE 'fts_docsize'(docid I\
        NTEGER PRIMARY KEY, size BLOB)CREATE TABLE 'fts_stat'(id INTEGER PRIMARY KEY, value BLOB)CREATE VIRTUAL T\
        ABLE USING fts5(title, body, content='', content_rowid='id', tokenize='porter unicode61')CREATE TABLE 'ft\
        s_data'(id INTEGER PRIMARY KEY, block BLOB)CREATE TABLE 'fts_idx'(segid, term, pgno, PRIMARY KEY(segid, t\
        erm)) WITHOUT ROWIDCREATE TABLE 'fts_content'(id INTEGER PRIMARY KEY, c0, c1, c2)CREATE TABLE 'fts_docsiz\
        e'(id INTEGER PRIMARY KEY, sz BLOB)CREATE TABLE 'fts_config'(k PRIMARY KEY, v) WITHOUT ROWIDCREATE VIRTUA\
        L TABLE USING rtree(id, minx, maxx, miny, maxy)CREATE VIRTUAL TABLE USING rtree_i32(CREATE TABLE "rtree_n\
        ode"(nodeno INTEGER PRIMARY KEY,data)CREATE TABLE "rtree_parent"(nodeno INTEGER PRIMARY KEY,parentnode)CR\
        EATE TABLE "rtree_rowid"(rowid INTEGER PRIMARY KEY,nodeno)CREATE TABLE gpkg_spatial_ref_sys (srs_name TEX\
        T NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL, organization_coordsys_id INT\
        EGER NOT NULL, definition TEXT NOT NULL, description TEXT, definition_12_063 TEXT NOT NULL)CREATE TABLE g\
        pkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, desc\
        ription TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), mi\
        n_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN K\
        EY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))CREATE TABLE gpkg_geometry_columns (table_name TEXT N\
        OT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT \
        NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT u\
        k_gc_table_name UNIQUE (table_name), CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_content\
        s(table_name), CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id))CREATE \
        TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT N\
        OT NULL, scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))CREATE T\
        ABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY, srs_id INTEGER NOT NULL, min_x DOUBLE NO\
        T NULL, min_y DOUBLE NOT NULL, max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL, CONSTRAINT fk_gtms_table_nam\
        e FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name)CREATE TABLE gpkg_tile_matrix (table_name \
        TEXT NOT NULL, zoom_level INTEGER NOT NULL, matrix_width INTEGER NOT NULL, matrix_height INTEGER NOT NULL\
        , tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL, pixel_y_size D\
        OUBLE NOT NULL, CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level), CONSTRAINT fk_tmm_table_name FORE\
        IGN KEY (table_name) REFERENCES gpkg_contents(table_name) (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_lev\
        el INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL, UN\
        IQUE (zoom_level, tile_column, tile_row))GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.2\
        57223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"\
        ]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]PROJCS["WGS 84 / P\
        seudo-Mercator",PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PA\
        RAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["X\
        ",EAST],AXIS["Y",NORTH]Undefined cartesian SRSUndefined geographic SRSundefined cartesian coordinate refe\
        rence systemlongitude/latitude coordinates in decimal degrees on the WGS 84 spheroidCREATE TRIGGER "rtree\
        _geom_insert" AFTER INSERT ON WHEN (new."geom" NOT NULL AND NOT ST_IsEmpty(NEW."geom")) BEGIN INSERT OR R\
        EPLACE INTO "rtree_geom" VALUES (NEW."fid", ST_MinX(NEW."geom"), ST_MaxX(NEW."geom"), ST_MinY(NEW."geom")\
        , ST_MaxY(NEW."geom")); ENDgpkg_rtree_indexhttp://www.geopackage.org/spec120/#extension_rtreewrite-onlyre\
        ad-writeCREATE TABLE android_metadata (locale TEXT)CREATE TABLE room_master_table (id INTEGER PRIMARY KEY\
        ,identity_hash TEXT)CREATE TABLE `workspec` (`id` TEXT NOT NULL, `state` INTEGER NOT NULL, PRIMARY KEY(`i\
        d`), FOREIGN KEY(`work_spec_id`) REFERENCES `WorkSpec`(`id`) ON UPDATE CASCADE ON DELETE CASCADE )CREATE \
        INDEX `index_` ON `CREATE UNIQUE INDEX `index__id` ON `` (`id`)`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT \
        NULL, `name` TEXT NOT NULL, `timestamp` INTEGER NOT NULL, `value` REAL NOT NULL, `data` BLOB)CREATE TABLE \
        sqlite_stat1(tbl,idx,stat)CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)CREATE TABLE grdb_migrati\
        ons (identifier TEXT NOT NULL PRIMARY KEY)CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY \
        KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL\
        )CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY)CREATE TABLE alembic_version (v\
        ersion_num VARCHAR(32) NOT NULL)CREATE TABLE sqlite_sequence(name,seq)sqlite_autoindex_{"id":,"name":"","\
        type":"","value":"","title":"","url":"https://www.","created":"","items":[{"text":"","data":{"key":"","en\
        abled":true,"count":0,"items":[],"description":"","version":"1.0","timestamp":"null,false},https://www.ht\
        tp://www..com/.org/index.html?id=image/jpegimage/pngapplication/jsontext/plain; charset=utf-8application/\
        octet-stream<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n<dict>\n\t<key></key>\n\t<strin\
        g></string>\n\t<true/>\n\t<integer></integer>\n\t<array>\n</dict>\n</plist>\n\u{89}PNG\r\n\u{1a}\n\0\0\0\
        \rIHDR\0\0\0\u{8}\u{6}\0\0\0\0sRGB\0\u{ae}\u{ce}\u{1c}\u{e9}\0\0\0\u{4}gAMA\0\0\u{b1}\u{8f}\u{b}\u{fc}a\
        \u{5}\0\0\0\tpHYs\0\0\u{b}\u{13}\0\0\u{b}\u{13}\u{1}\0\u{9a}\u{9c}\u{18}\0\0IDATx\0\0\0\0IEND\u{ae}B`\
        \u{82}\u{ff}\u{d8}\u{ff}\u{e0}\0\u{10}JFIF\0\u{1}\u{1}\0\0\u{1}\0\u{1}\0\0\u{ff}\u{db}\0C\0[NS.relativeWN\
        S.baseUNSURL\u{d2}\0\0VNSUUID\\NS.uuidbytesO\u{10}\u{10}\u{d2}\0\0_\u{10}\u{f}NSMutableStringYNS.string_\
        \u{10}\u{12}NSAttributedString\\NSAttributesXNSString_\u{10}\rNSMutableDataWNS.dataVNSData_\u{10}\u{10}NS\
        DecimalNumberXNSNumberWNSValueVUIFontWUIColorWNSColorWUIImage\\NSColorSpaceUNSRGB_\u{10}\u{13}NSParagraph\
        StyleXNSLocaleZNSTimeZoneVNSNull_\u{10}\u{f}NSDateComponents_\u{10}\u{11}NSMutableIndexSet_\u{10}\u{1a}CL\
        LocationXlatitudeYlongitude\u{d2}\0\0Z$classnameX$classesUNSSet\u{a2}\u{1}\0XNSObject\u{d2}\0\0_\u{10}\
        \u{c}NSMutableSet\u{a3}\0\u{1}\0XNSObject\u{d2}\0\0WNS.timeV$class#A\u{d2}\0\0VNSDate\u{a2}\u{1}\0XNSObje\
        ct\u{d2}\0\0Z$classnameX$classes^NSMutableArray\u{a3}\0\u{1}\0WNSArrayXNSObject\u{d2}\0\0WNSArray\u{a2}\
        \u{1}\0XNSObject\u{d3}\0\0\0WNS.keysZNS.objectsV$class\u{a1}\0\u{80}\u{2}\u{a1}\0\u{80}\u{3}\u{80}\u{4}\
        \u{d2}\0\0Z$classnameX$classes_\u{10}\u{13}NSMutableDictionary\u{a3}\0\u{1}\0\\NSDictionaryXNSObject\
        \u{d2}\0\0\\NSDictionary\u{a2}\u{1}\0XNSObject\u{d2}\0\0\0\0ZNS.objectsV$class\u{a2}\0\0\u{80}\u{2}\u{80}\
        \u{3}\u{80}\u{4}\u{80}\u{5}\u{80}\u{6}\u{80}\u{7}\u{80}\u{8}\u{80}\t\u{80}\n\u{80}\u{b}\u{80}\u{c}\u{d4}\
        \0\0\0\0\0\0\0\u{2}X$versionY$archiverT$topX$objects\u{12}\0\u{1}\u{86}\u{a0}_\u{10}\u{f}NSKeyedArchiver\
        \u{d1}\0\0Troot\u{80}\u{1}\u{a4}\0\0\u{4}\0U$null\u{d2}\0\0\u{d4}\0\0\0\0\0\0\0\0X$versionX$objectsY$arch\
        iverT$top\u{12}\0\u{1}\u{86}\u{a0}\u{a6}\0\0U$null$version\0$archiver\0$top\0$objects\0NSKeyedArchiver\0r\
        oot\0$null\0$class\0NS.keys\0NS.objects\0$classname\0$classes\0NSMutableOrderedSet\0NSMutableSet\0NSSet\0\
        NSMutableArray\0NSArray\0NSMutableDictionary\0NSDictionary\0NSObject\0\u{d8}\0\0\0\0\0\0\0\0\0_\u{10}\
        \u{1e}NSStoreModelVersionIdentifiers_\u{10}\u{1b}NSPersistenceMaximumFrameworkVersion[NSStoreType_\u{10}\
        \u{12}_NSAutoVacuumLevel_\u{10}\u{1f}NSStoreModelVersionHashesDigest_\u{10}\u{19}NSStoreModelVersionHashe\
        s_\u{10}\u{1d}NSPersistenceFrameworkVersion_\u{10} NSStoreModelVersionHashesVersion\u{a1}\0Q1VSQLiteQ2\
        \u{a0}VSQLiteQ2_\u{10}XO\u{10} _\u{10}.NSStoreModelVersionChecksumKey_\u{10},=_\u{10}+_NSStoreAncillaryMo\
        delVersionHashesMetadataKey\u{d1}\0\0_\u{10}\u{1e}NSPersistentHistoryTrackingKey\u{d3}\0\0\0\0\0\0VCHANGE\
        [TRANSACTION_\u{10}\u{11}TRANSACTIONSTRINGO\u{10} \u{10}\u{3}\u{11}\u{3}\u{11}\u{4}\u{11}\u{5}\u{10}\u{3}\
        TRANSACTIONCHANGETRANSACTIONSTRINGZ_PRIMARYKEYZ_METADATAZ_MODELCACHEtableACHANGEATRANSACTIONATRANSACTIONS\
        TRINGindexACHANGE_ZTRANSACTIONID_INDEXATRANSACTION_ZAUTHORTS_INDEXATRANSACTION_ZBUNDLEIDTS_INDEXATRANSACT\
        ION_ZCONTEXTNAMETS_INDEXATRANSACTION_ZPROCESSIDTS_INDEXZ_TRANSACTION_TransactionAuthorIndexZ_TRANSACTION_\
        TransactionTimestampIndexZ_TRANSACTIONSTRING_UNIQUE_NAMECREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, \
        Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INT\
        EGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB, ZTOMBSTONE3 BLOB )\0CREATE TAB\
        LE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS \
        INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCH\
        AR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )\0CREATE TABLE ATRANSACTIONSTRING ( Z_PK IN\
        TEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )\0CREATE INDEX ACHANGE_ZTRANSACTIONID_IND\
        EX ON ACHANGE (ZTRANSACTIONID)\0CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)\0CR\
        EATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)\0CREATE INDEX ATRANSACTION_ZCONTE\
        XTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)\0CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSAC\
        TION (ZPROCESSIDTS)\0CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE B\
        INARY ASC)\0CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINA\
        RY ASC)\0CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY \
        ASC)\0 ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZIDENTIFIER VARCHAR, ZTIT\
        LE VARCHAR, ZTYPE INTEGER, ZCREATIONDATE TIMESTAMP, ZMODIFICATIONDATE TIMESTAMP, ZLASTMODIFIEDDATE TIMEST\
        AMP, ZUNIQUEIDENTIFIER VARCHAR, ZUUID BLOB, ZURL VARCHAR, ZVALUE FLOAT, ZPRICE DECIMAL, ZDATA BLOB , CONS\
        TRAINT UNIQUE (ZIDENTIFIER))\0 INTEGER, Z_FOK_ INTEGER, PRIMARY KEY (Z_1, Z_2) )\0CREATE UNIQUE INDEX _BY\
        NAME ON  (ZNAME COLLATE BINARY ASC)\0CREATE INDEX Z_INDEX ON Z (Z)\0CREATE TABLE Z ( Z_PK INTEGER PRIMARY \
        KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, \
        Z_SUPER INTEGER, Z_MAX INTEGER)\0CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(2\
        55), Z_PLIST BLOB)\0CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)\0
        """
}
