-- A capture of N kernels (table n holds N): one in eight is launched by itself, the others by graphs of seven; one copy a hundred kernels.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaGraphLaunch_v10000'), (3, 'cudaMemcpyAsync_v3020');
INSERT INTO StringIds SELECT 10 + value, 'a_kernel_with_a_name_of_middling_length_' || value FROM generate_series(0, 99);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.3');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
	SELECT value * 5000, value * 5000 + 2500, 0, 281543243202560 + 7, value, CASE WHEN value % 8 < 2 THEN 1 + value % 8 ELSE 3 END, 0, NULL
	FROM generate_series(0, (SELECT count FROM n));
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
	SELECT value * 5000 + 3000, value * 5000 + 4000 + value % 3000, 0, 1, NULL, 7, value - value % 8 + min(value % 8, 1), 281543243202560,
		10 + value % 100, 10 + value % 100, NULL, 1, 0, 32, value % 1000 + 1, 1, 1, 128, 1, 1, 0, value % 3 * 1024, 0, 155713536, value, 32768,
		CASE WHEN value % 8 > 0 THEN 8589934592 + value % 8 END, 0
	FROM generate_series(0, (SELECT count FROM n) - 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY
	SELECT value * 500000 + 2600, value * 500000 + 2900, 0, 1, 7, value * 100 + 2 + value % 2 * 4, 281543243202560, value * 4, 1 + value % 2, NULL
	FROM generate_series(0, (SELECT count / 100 - 1 FROM n));
