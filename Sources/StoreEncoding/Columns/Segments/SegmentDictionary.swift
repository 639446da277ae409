// Written by Protocol/columns_dictionary.py.

/// The dictionary that the text area of each segment may refer to, as if it stood before it.
///
/// Source: `Protocol/columns-dictionary.txt`.
extension MatchDictionary {
    static let builtInBytes: [UInt8] = characters.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }

    private static let characters = """
        kCLLocationCodingKeyCoordinateLatitude\u{0}kCLLocationCodingKeyCoordinateLongitude\u{0}kCLLocationCodingK\
        eyHorizontalAccuracy\u{0}kCLLocationCodingKeyAltitude\u{0}kCLLocationCodingKeyVerticalAccuracy\u{0}kCLLoc\
        ationCodingKeySpeed\u{0}kCLLocationCodingKeySpeedAccuracy\u{0}kCLLocationCodingKeyCourse\u{0}kCLLocationC\
        odingKeyCourseAccuracy\u{0}kCLLocationCodingKeyTimestamp\u{0}kCLLocationCodingKeyType\u{0}kCLLocationCodi\
        ngKeyLifespan\u{0}kCLLocationCodingKeyConfidence\u{0}kCLLocationCodingKeyFloor\u{0}CLLocation\u{0}RecordT\
        ype\u{0}RecordID\u{0}RecordName\u{0}ZoneID\u{0}zoneName\u{0}ownerName\u{0}databaseScopeKey\u{0}anonymousC\
        KUserIDKey\u{0}ProtectionData\u{0}PreviousProtectionEtag\u{0}ZoneProtectionEtag\u{0}ETag\u{0}KnownToServe\
        r\u{0}RecordCtime\u{0}RecordMtime\u{0}CreatorUserRecordID\u{0}LastModifiedUserRecordID\u{0}ModifiedByDevi\
        ce\u{0}ConflictLoserEtags\u{0}ParentReference\u{0}PreviousParentReference\u{0}HasUpdatedParentReference\
        \u{0}ShareReference\u{0}PreviousShareReference\u{0}HasUpdatedShareReference\u{0}WantsPublicSharingKey\
        \u{0}WantsChainPCS\u{0}ExpirationDate\u{0}Expired\u{0}HasUpdatedExpiration\u{0}PluginFields\u{0}Displayed\
        Hostname\u{0}MutableEncryptedPublicSharingKey\u{0}BaseToken\u{0}RoutingKey\u{0}Permission\u{0}_defaultZon\
        e\u{0}_defaultOwner__\u{0}CKRecordZoneID\u{0}CKRecordID\u{0}CKReference\u{0}CKRecord\u{0}CKServerChangeTo\
        ken\u{0}UISystemColorName\u{0}UIColorComponentCount\u{0}UIRed\u{0}UIGreen\u{0}UIBlue\u{0}UIAlpha\u{0}UIWh\
        ite\u{0}NSRGB\u{0}NSWhite\u{0}NSColorSpace\u{0}NSColor\u{0}UIColor\u{0}NSFontNameAttribute\u{0}NSFontSize\
        Attribute\u{0}UIFontDescriptorAttributes\u{0}UIFontDescriptorOptions\u{0}UIFontDescriptor\u{0}UIFontName\
        \u{0}UIFontPointSize\u{0}UIFontTraits\u{0}UIFontTextStyleForScaling\u{0}UIFontMaximumPointSizeAfterScalin\
        g\u{0}UISystemFont\u{0}NSName\u{0}NSSize\u{0}NSfFlags\u{0}NSFont\u{0}UIFont\u{0}NSTabStops\u{0}NSAlignmen\
        t\u{0}NSWritingDirection\u{0}NSParagraphStyle\u{0}NSMutableParagraphStyle\u{0}UIImageData\u{0}UIScale\
        \u{0}UIImage\u{0}NSString\u{0}NSAttributeInfo\u{0}NSAttributes\u{0}NSMutableAttributedString\u{0}NSAttrib\
        utedString\u{0}NS.calendar\u{0}NS.calidentifier\u{0}NS.locale\u{0}NS.firstweekdy\u{0}NS.mincdays\u{0}NSCa\
        lendar\u{0}NS.timezone\u{0}NS.year\u{0}NS.month\u{0}NS.day\u{0}NS.hour\u{0}NS.minute\u{0}NSDateComponents\
        \u{0}NS.identifier\u{0}NSLocale\u{0}NS.name\u{0}NSTimeZone\u{0}NSDomain\u{0}NSCode\u{0}NSError\u{0}NSRang\
        eCount\u{0}NSRangeData\u{0}NSLocation\u{0}NSLength\u{0}NSMutableIndexSet\u{0}NSIndexSet\u{0}NS.mantissa\
        \u{0}NS.exponent\u{0}NS.negative\u{0}NS.compact\u{0}NS.length\u{0}NS.mantissa.bo\u{0}NSDecimalNumberPlace\
        holder\u{0}NSDecimalNumber\u{0}NS.special\u{0}NS.rangeval.location\u{0}NS.rangeval.length\u{0}NS.pointval\
        \u{0}NS.sizeval\u{0}NS.rectval\u{0}NS.intval\u{0}NS.dblval\u{0}NS.boolval\u{0}NSNumber\u{0}NSValue\u{0}NS\
        .key.0\u{0}NS.object.0\u{0}NSNull\u{0}NSOrderedSet\u{0}NS.count\u{0}NS.relative\u{0}NS.base\u{0}NSURL\
        \u{0}NS.uuidbytes\u{0}NSUUID\u{0}NS.time\u{0}NSDate\u{0}NS.bytes\u{0}NS.data\u{0}NSMutableData\u{0}NSData\
        \u{0}NS.string\u{0}NSMutableString\u{0}NSSelectorName\u{0}NSOperand\u{0}NSArguments\u{0}NSKeyPath\u{0}NSV\
        ariable\u{0}NSConstantValueClassName\u{0}NSConstantValue\u{0}NSExpressionType\u{0}NSConstantValueExpressi\
        on\u{0}NSSelfExpression\u{0}NSVariableExpression\u{0}NSKeyPathSpecifierExpression\u{0}NSFunctionExpressio\
        n\u{0}NSKeyPathExpression\u{0}NSExpression\u{0}NSNegate\u{0}NSOptions\u{0}NSOperatorType\u{0}NSVariant\
        \u{0}NSModifier\u{0}NSComparisonPredicateOperator\u{0}NSEqualityPredicateOperator\u{0}NSInPredicateOperat\
        or\u{0}NSPredicateOperator\u{0}NSLeftExpression\u{0}NSRightExpression\u{0}NSComparisonPredicate\u{0}NSCom\
        poundPredicateType\u{0}NSSubpredicates\u{0}NSCompoundPredicate\u{0}NSPredicate\u{0}NSReverseNullOrder\
        \u{0}NSSelector\u{0}NSSortDescriptor\u{0}NSSortDescriptors\u{0}NSValuesToFetch\u{0}NSValuesToGroupBy\u{0}\
        NSHavingPredicate\u{0}NSFetchOffset\u{0}NSFetchLimit\u{0}NSBatchSize\u{0}NSResultType\u{0}NSHasFetchReque\
        stFlags\u{0}NSFetchRequestFlags\u{0}NSRelationshipKeyPathsForPrefetching\u{0}NSAllocationType\u{0}_NSFetc\
        hRequestEntityName\u{0}NSPersistentStoreRequest\u{0}NSFetchRequest\u{0}NSFetchedPropertyDescription\u{0}N\
        SFilteringPredicate\u{0}NSDerivationExpression\u{0}NSDerivedAttributeDescription\u{0}NSReferenceID\u{0}NS\
        UnderlyingProperty\u{0}_NSPropertyDescriptionProxy\u{0}NSIsAbstract\u{0}NSIsIndexed\u{0}NSIsTransient\
        \u{0}NSIsReadOnly\u{0}NSRenamingIdentifier\u{0}NSVersionHashModifier\u{0}NSValidationPredicates\u{0}NSVal\
        idationWarnings\u{0}NSUserInfo\u{0}NSSecureUnarchiveFromData\u{0}NSPersistentHistoryTombstoneAttributes\
        \u{0}NSCloudKitMirroringDelegateIgnoredPropertyKey\u{0}NSIndexName\u{0}NSPartialIndexPredicate\u{0}NSInde\
        xElements\u{0}NSFetchIndexElementType\u{0}NSAscending\u{0}NSFetchIndexElementDescription\u{0}NSFetchIndex\
        Description\u{0}NSFetchIndexDescriptions\u{0}NSCompoundIndexes\u{0}NSUniqueTuples\u{0}_P\u{0}NSPropertyNa\
        me\u{0}NSEntity\u{0}NSIsOptional\u{0}NSFlagsKey\u{0}NSAttributeType\u{0}NSAttributeValueClassName\u{0}NSD\
        efaultValue\u{0}NSValueTransformerName\u{0}NSAttributeDescription\u{0}NSDestinationEntity\u{0}_NSDestinat\
        ionEntityName\u{0}NSInverseRelationship\u{0}_NSInverseRelationshipName\u{0}NSMaxCount\u{0}NSMinCount\u{0}\
        NSDeleteRule\u{0}NSRelationshipDescription\u{0}NSPropertyDescription\u{0}NSEntityName\u{0}NSClassNameForE\
        ntity\u{0}NSManagedObjectModel\u{0}NSProperties\u{0}NSSubentities\u{0}NSSuperentity\u{0}NSEntityDescripti\
        on\u{0}NSEntities\u{0}NSConfigurations\u{0}NSFetchRequestTemplates\u{0}NSVersionIdentifiers\u{0}NSManaged\
        Object\u{0}version\u{0}searchMapping\u{0}emptyToken\u{0}keys\u{0}length\u{0}values\u{0}__empty_slot_token\
        _4c24_98dc_ac1e_b773__\u{0}NSKnownKeysMappingStrategy1\u{0}NSKnownKeysMappingStrategy\u{0}NSKnownKeysDict\
        ionary1\u{0}NSKnownKeysDictionary\u{0} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL UNIQUE, VARCHAR(255) NO\
        T NULL DEFAULT '', TIMESTAMP DEFAULT CURRENT_TIMESTAMP, DATETIME NOT NULL, BOOLEAN NOT NULL DEFAULT 0, NU\
        MERIC(10,2) NOT NULL, NVARCHAR(160) NOT NULL, DECIMAL, DOUBLE PRECISION, REAL NOT NULL DEFAULT 0.0, BLOB \
        NOT NULL, TEXT NOT NULL COLLATE NOCASE, TEXT COLLATE RTRIM,  CHECK (length(name) > 0), CONSTRAINT PRIMARY \
        KEY (\"id\"), FOREIGN KEY (\"user_id\") REFERENCES \"users\" (\"id\") ON DELETE CASCADE ON UPDATE NO ACTI\
        ON DEFERRABLE INITIALLY DEFERRED) ON DELETE SET NULL, ON DELETE RESTRICT, ON CONFLICT REPLACE, ON CONFLIC\
        T IGNORE, ON CONFLICT FAIL, GENERATED ALWAYS AS () STORED, WITHOUT ROWID, STRICT, CREATE TABLE IF NOT EXI\
        STS CREATE TEMP TABLE CREATE UNIQUE INDEX IF NOT EXISTS CREATE VIEW AS SELECT FROM LEFT JOIN INNER JOIN U\
        SING WHERE IS NOT NULL GROUP BY ORDER BY DESC LIMIT DISTINCT COUNT(*) COALESCE(CREATE TRIGGER AFTER INSER\
        T ON WHEN new.id IS NOT NULL BEGIN UPDATE SET = = old. WHERE id = new.id; ENDCREATE TRIGGER BEFORE DELETE \
        ON FOR EACH ROW BEGIN DELETE FROM WHERE rowid = old.rowid; SELECT RAISE(ABORT, 'constraint failed'); ENDC\
        REATE TRIGGER AFTER UPDATE OF ON BEGIN INSERT INTO VALUES (new.rowid, new.); ENDcreated_at updated_at del\
        eted_at last_modified timestamp description identifier latitude longitude username password email address \
        country language category quantity status priority position parent_id group_id message content subject co\
        mment version settings preferences CREATE VIRTUAL TABLE USING fts3(tokenize=porter) CREATE VIRTUAL TABLE \
        USING fts4(content=\"\", tokenize=unicode61) CREATE TABLE 'fts_content'(docid INTEGER PRIMARY KEY, 'c0con\
        tent')CREATE TABLE 'fts_segments'(blockid INTEGER PRIMARY KEY, block BLOB)CREATE TABLE 'fts_segdir'(level \
        INTEGER,idx INTEGER,start_block INTEGER,leaves_end_block INTEGER,end_block INTEGER,root BLOB,PRIMARY KEY(\
        level, idx))CREATE TABLE 'fts_docsize'(docid INTEGER PRIMARY KEY, size BLOB)CREATE TABLE 'fts_stat'(id IN\
        TEGER PRIMARY KEY, value BLOB)CREATE VIRTUAL TABLE USING fts5(title, body, content='', content_rowid='id'\
        , tokenize='porter unicode61')CREATE TABLE 'fts_data'(id INTEGER PRIMARY KEY, block BLOB)CREATE TABLE 'ft\
        s_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWIDCREATE TABLE 'fts_content'(id INTEGER PR\
        IMARY KEY, c0, c1, c2)CREATE TABLE 'fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB)CREATE TABLE 'fts_config\
        '(k PRIMARY KEY, v) WITHOUT ROWIDCREATE VIRTUAL TABLE USING rtree(id, minx, maxx, miny, maxy)CREATE VIRTU\
        AL TABLE USING rtree_i32(CREATE TABLE \"rtree_node\"(nodeno INTEGER PRIMARY KEY,data)CREATE TABLE \"rtree\
        _parent\"(nodeno INTEGER PRIMARY KEY,parentnode)CREATE TABLE \"rtree_rowid\"(rowid INTEGER PRIMARY KEY,no\
        deno)CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, orga\
        nization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description \
        TEXT, definition_12_063 TEXT NOT NULL)CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, d\
        ata_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NUL\
        L DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, \
        srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))CR\
        EATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name \
        TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols P\
        RIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name), CONSTRAINT fk_gc_t\
        n FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name), CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id\
        ) REFERENCES gpkg_spatial_ref_sys (srs_id))CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEX\
        T, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE \
        (table_name, column_name, extension_name))CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRI\
        MARY KEY, srs_id INTEGER NOT NULL, min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL, max_x DOUBLE NOT NULL, m\
        ax_y DOUBLE NOT NULL, CONSTRAINT fk_gtms_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(tab\
        le_name)CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL, matrix_widt\
        h INTEGER NOT NULL, matrix_height INTEGER NOT NULL, tile_width INTEGER NOT NULL, tile_height INTEGER NOT \
        NULL, pixel_x_size DOUBLE NOT NULL, pixel_y_size DOUBLE NOT NULL, CONSTRAINT pk_ttm PRIMARY KEY (table_na\
        me, zoom_level), CONSTRAINT fk_tmm_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_nam\
        e) (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile\
        _row INTEGER NOT NULL, tile_data BLOB NOT NULL, UNIQUE (zoom_level, tile_column, tile_row))GEOGCS[\"WGS 8\
        4\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\
        \"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0,AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.01745329251994\
        33,AUTHORITY[\"EPSG\",\"9122\"]],AUTHORITY[\"EPSG\",\"4326\"]]PROJCS[\"WGS 84 / Pseudo-Mercator\",PROJECT\
        ION[\"Mercator_1SP\"],PARAMETER[\"central_meridian\",0],PARAMETER[\"scale_factor\",1],PARAMETER[\"false_e\
        asting\",0],PARAMETER[\"false_northing\",0],UNIT[\"metre\",1,AUTHORITY[\"EPSG\",\"9001\"]],AXIS[\"X\",EAS\
        T],AXIS[\"Y\",NORTH]Undefined cartesian SRSUndefined geographic SRSundefined cartesian coordinate referen\
        ce systemlongitude/latitude coordinates in decimal degrees on the WGS 84 spheroidCREATE TRIGGER \"rtree_g\
        eom_insert\" AFTER INSERT ON WHEN (new.\"geom\" NOT NULL AND NOT ST_IsEmpty(NEW.\"geom\")) BEGIN INSERT O\
        R REPLACE INTO \"rtree_geom\" VALUES (NEW.\"fid\", ST_MinX(NEW.\"geom\"), ST_MaxX(NEW.\"geom\"), ST_MinY(\
        NEW.\"geom\"), ST_MaxY(NEW.\"geom\")); ENDgpkg_rtree_indexhttp://www.geopackage.org/spec120/#extension_rt\
        reewrite-onlyread-writeCREATE TABLE android_metadata (locale TEXT)CREATE TABLE room_master_table (id INTE\
        GER PRIMARY KEY,identity_hash TEXT)CREATE TABLE `workspec` (`id` TEXT NOT NULL, `state` INTEGER NOT NULL, \
        PRIMARY KEY(`id`), FOREIGN KEY(`work_spec_id`) REFERENCES `WorkSpec`(`id`) ON UPDATE CASCADE ON DELETE CA\
        SCADE )CREATE INDEX `index_` ON `CREATE UNIQUE INDEX `index__id` ON `` (`id`)`id` INTEGER PRIMARY KEY AUT\
        OINCREMENT NOT NULL, `name` TEXT NOT NULL, `timestamp` INTEGER NOT NULL, `value` REAL NOT NULL, `data` BL\
        OB)CREATE TABLE sqlite_stat1(tbl,idx,stat)CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)CREATE TA\
        BLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)CREATE TABLE \"django_migrations\" (\"id\" inte\
        ger NOT NULL PRIMARY KEY AUTOINCREMENT, \"app\" varchar(255) NOT NULL, \"name\" varchar(255) NOT NULL, \"\
        applied\" datetime NOT NULL)CREATE TABLE \"schema_migrations\" (\"version\" varchar NOT NULL PRIMARY KEY)\
        CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)CREATE TABLE sqlite_sequence(name,seq)sqli\
        te_autoindex_{\"id\":,\"name\":\"\",\"type\":\"\",\"value\":\"\",\"title\":\"\",\"url\":\"https://www.\",\
        \"created\":\"\",\"items\":[{\"text\":\"\",\"data\":{\"key\":\"\",\"enabled\":true,\"count\":0,\"items\":\
        [],\"description\":\"\",\"version\":\"1.0\",\"timestamp\":\"null,false},https://www.http://www..com/.org/\
        index.html?id=image/jpegimage/pngapplication/jsontext/plain; charset=utf-8application/octet-stream<?xml v\
        ersion=\"1.0\" encoding=\"UTF-8\"?>\u{a}<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://w\
        ww.apple.com/DTDs/PropertyList-1.0.dtd\">\u{a}<plist version=\"1.0\">\u{a}<dict>\u{a}\u{9}<key></key>\
        \u{a}\u{9}<string></string>\u{a}\u{9}<true/>\u{a}\u{9}<integer></integer>\u{a}\u{9}<array>\u{a}</dict>\
        \u{a}</plist>\u{a}\u{89}PNG\u{d}\u{a}\u{1a}\u{a}\u{0}\u{0}\u{0}\u{d}IHDR\u{0}\u{0}\u{0}\u{8}\u{6}\u{0}\
        \u{0}\u{0}\u{0}sRGB\u{0}\u{ae}\u{ce}\u{1c}\u{e9}\u{0}\u{0}\u{0}\u{4}gAMA\u{0}\u{0}\u{b1}\u{8f}\u{b}\u{fc}\
        a\u{5}\u{0}\u{0}\u{0}\u{9}pHYs\u{0}\u{0}\u{b}\u{13}\u{0}\u{0}\u{b}\u{13}\u{1}\u{0}\u{9a}\u{9c}\u{18}\u{0}\
        \u{0}IDATx\u{0}\u{0}\u{0}\u{0}IEND\u{ae}B`\u{82}\u{ff}\u{d8}\u{ff}\u{e0}\u{0}\u{10}JFIF\u{0}\u{1}\u{1}\
        \u{0}\u{0}\u{1}\u{0}\u{1}\u{0}\u{0}\u{ff}\u{db}\u{0}C\u{0}[NS.relativeWNS.baseUNSURL\u{d2}\u{0}\u{0}VNSUU\
        ID\\NS.uuidbytesO\u{10}\u{10}\u{d2}\u{0}\u{0}_\u{10}\u{f}NSMutableStringYNS.string_\u{10}\u{12}NSAttribut\
        edString\\NSAttributesXNSString_\u{10}\u{d}NSMutableDataWNS.dataVNSData_\u{10}\u{10}NSDecimalNumberXNSNum\
        berWNSValueVUIFontWUIColorWNSColorWUIImage\\NSColorSpaceUNSRGB_\u{10}\u{13}NSParagraphStyleXNSLocaleZNSTi\
        meZoneVNSNull_\u{10}\u{f}NSDateComponents_\u{10}\u{11}NSMutableIndexSet_\u{10}\u{1a}CLLocationXlatitudeYl\
        ongitude\u{d2}\u{0}\u{0}Z$classnameX$classesUNSSet\u{a2}\u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}_\u{10}\u{c}NS\
        MutableSet\u{a3}\u{0}\u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}WNS.timeV$class#A\u{d2}\u{0}\u{0}VNSDate\u{a2}\
        \u{1}\u{0}XNSObject\u{d2}\u{0}\u{0}Z$classnameX$classes^NSMutableArray\u{a3}\u{0}\u{1}\u{0}WNSArrayXNSObj\
        ect\u{d2}\u{0}\u{0}WNSArray\u{a2}\u{1}\u{0}XNSObject\u{d3}\u{0}\u{0}\u{0}WNS.keysZNS.objectsV$class\u{a1}\
        \u{0}\u{80}\u{2}\u{a1}\u{0}\u{80}\u{3}\u{80}\u{4}\u{d2}\u{0}\u{0}Z$classnameX$classes_\u{10}\u{13}NSMutab\
        leDictionary\u{a3}\u{0}\u{1}\u{0}\\NSDictionaryXNSObject\u{d2}\u{0}\u{0}\\NSDictionary\u{a2}\u{1}\u{0}XNS\
        Object\u{d2}\u{0}\u{0}\u{0}\u{0}ZNS.objectsV$class\u{a2}\u{0}\u{0}\u{80}\u{2}\u{80}\u{3}\u{80}\u{4}\u{80}\
        \u{5}\u{80}\u{6}\u{80}\u{7}\u{80}\u{8}\u{80}\u{9}\u{80}\u{a}\u{80}\u{b}\u{80}\u{c}\u{d4}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{2}X$versionY$archiverT$topX$objects\u{12}\u{0}\u{1}\u{86}\u{a0}_\u{10}\u{f}NSKeyed\
        Archiver\u{d1}\u{0}\u{0}Troot\u{80}\u{1}\u{a4}\u{0}\u{0}\u{4}\u{0}U$null\u{d2}\u{0}\u{0}\u{d4}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}X$versionX$objectsY$archiverT$top\u{12}\u{0}\u{1}\u{86}\u{a0}\u{a6}\u{0}\
        \u{0}U$null$version\u{0}$archiver\u{0}$top\u{0}$objects\u{0}NSKeyedArchiver\u{0}root\u{0}$null\u{0}$class\
        \u{0}NS.keys\u{0}NS.objects\u{0}$classname\u{0}$classes\u{0}NSMutableOrderedSet\u{0}NSMutableSet\u{0}NSSe\
        t\u{0}NSMutableArray\u{0}NSArray\u{0}NSMutableDictionary\u{0}NSDictionary\u{0}NSObject\u{0}\u{d8}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}_\u{10}\u{1e}NSStoreModelVersionIdentifiers_\u{10}\u{1b}NSPersist\
        enceMaximumFrameworkVersion[NSStoreType_\u{10}\u{12}_NSAutoVacuumLevel_\u{10}\u{1f}NSStoreModelVersionHas\
        hesDigest_\u{10}\u{19}NSStoreModelVersionHashes_\u{10}\u{1d}NSPersistenceFrameworkVersion_\u{10} NSStoreM\
        odelVersionHashesVersion\u{a1}\u{0}Q1VSQLiteQ2\u{a0}VSQLiteQ2_\u{10}XO\u{10} _\u{10}.NSStoreModelVersionC\
        hecksumKey_\u{10},=_\u{10}+_NSStoreAncillaryModelVersionHashesMetadataKey\u{d1}\u{0}\u{0}_\u{10}\u{1e}NSP\
        ersistentHistoryTrackingKey\u{d3}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}VCHANGE[TRANSACTION_\u{10}\u{11}TRANSACTIO\
        NSTRINGO\u{10} \u{10}\u{3}\u{11}\u{3}\u{11}\u{4}\u{11}\u{5}\u{10}\u{3}TRANSACTIONCHANGETRANSACTIONSTRINGZ\
        _PRIMARYKEYZ_METADATAZ_MODELCACHEtableACHANGEATRANSACTIONATRANSACTIONSTRINGindexACHANGE_ZTRANSACTIONID_IN\
        DEXATRANSACTION_ZAUTHORTS_INDEXATRANSACTION_ZBUNDLEIDTS_INDEXATRANSACTION_ZCONTEXTNAMETS_INDEXATRANSACTIO\
        N_ZPROCESSIDTS_INDEXZ_TRANSACTION_TransactionAuthorIndexZ_TRANSACTION_TransactionTimestampIndexZ_TRANSACT\
        IONSTRING_UNIQUE_NAMECREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHAN\
        GETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BL\
        OB, ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB, ZTOMBSTONE3 BLOB )\u{0}CREATE TABLE ATRANSACTION ( Z_PK INTEGER P\
        RIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, \
        ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCES\
        SID VARCHAR, ZQUERYGEN BLOB )\u{0}CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEG\
        ER, Z_OPT INTEGER, ZNAME VARCHAR )\u{0}CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTION\
        ID)\u{0}CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)\u{0}CREATE INDEX ATRANSACTI\
        ON_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)\u{0}CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON \
        ATRANSACTION (ZCONTEXTNAMETS)\u{0}CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSI\
        DTS)\u{0}CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)\
        \u{0}CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)\
        \u{0}CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)\
        \u{0} ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZIDENTIFIER VARCHAR, ZTITL\
        E VARCHAR, ZTYPE INTEGER, ZCREATIONDATE TIMESTAMP, ZMODIFICATIONDATE TIMESTAMP, ZLASTMODIFIEDDATE TIMESTA\
        MP, ZUNIQUEIDENTIFIER VARCHAR, ZUUID BLOB, ZURL VARCHAR, ZVALUE FLOAT, ZPRICE DECIMAL, ZDATA BLOB , CONST\
        RAINT UNIQUE (ZIDENTIFIER))\u{0} INTEGER, Z_FOK_ INTEGER, PRIMARY KEY (Z_1, Z_2) )\u{0}CREATE UNIQUE INDE\
        X _BYNAME ON  (ZNAME COLLATE BINARY ASC)\u{0}CREATE INDEX Z_INDEX ON Z (Z)\u{0}CREATE TABLE Z ( Z_PK INTE\
        GER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_N\
        AME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)\u{0}CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, \
        Z_UUID VARCHAR(255), Z_PLIST BLOB)\u{0}CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)\u{0}
        """
}
