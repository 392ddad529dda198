-- nvprof: the same table names, other columns.
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cacheConfig BLOB NOT NULL, start INT, end INT, deviceId INT, streamId INT, correlationId INT, name INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, x'00', 10, 20, 0, 7, 3, 1);
