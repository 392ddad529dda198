-- A capture of two processes on two GPUs, with one of each kind of row; rows do not stand in order of time.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES
	(1, 'cudaLaunchKernel_v7000'), (2, 'cudaGraphLaunch_v10000'), (3, 'cudaMemsetAsync_v3020'), (4, 'cuLaunchKernel'),
	(10, 'gemv'), (11, 'void gemv<float, (int)4>(float *)'), (12, '_Z4gemvIfLi4EEvPf'), (13, 'norm'), (14, 'norm(float *)'),
	(20, 'decode.0'), (21, 'nsbench');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.2.0'), ('EXPORT_SCHEMA_VERSION', '3.20.3');
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY', '20000'), ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, smCount INTEGER, chipName TEXT);
INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'NVIDIA H200', 62914560, 150109880320, 4814304000000, 132, 'GH100'), (0, 0, 'NVIDIA GB10', 25165824, 130663321600, NULL, 48, 'GB20B');

CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
	(5000, 5050, 1, (1 << 48) + (200 << 24) + 200, 1, 4, 0, NULL),	-- id 1 again, in another process
	(1900, 1960, 0, (1 << 48) + (100 << 24) + 101, 2, 2, 0, NULL),
	( 900,  950, 0, (1 << 48) + (100 << 24) + 100, 1, 1, 0, NULL),
	( 910,  940, 1, (1 << 48) + (100 << 24) + 100, 1, 4, 0, NULL),	-- the driver call within it
	(6000, 6010, 0, (1 << 48) + (200 << 24) + 200, 9, 2, 719, NULL),
	(2950, 2960, 0, (1 << 48) + (100 << 24) + 100, 4, 3, 0, NULL);

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
	(5100, 5200, 1, 1, NULL,  7, 1, (1 << 48) + (200 << 24), 14, 13, NULL, 16,    1, 1, 1,  32, 1, 1,    0,    0, NULL),
	(2100, 2250, 0, 1, NULL, 13, 2, (1 << 48) + (100 << 24), 14, 13, NULL, 20,    8, 2, 1, 256, 1, 1,    0,    0, 8589934593),
	(1000, 1100, 0, 1, NULL,  7, 1, (1 << 48) + (100 << 24), 11, 10,   12, 32, 1024, 1, 1, 128, 2, 1, 1024, 2048, NULL),
	(2000, 2100, 0, 1, NULL, 13, 2, (1 << 48) + (100 << 24), 11, 10,   12, 32, 1024, 1, 1, 128, 1, 1,    0,    0, 8589934592);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
	(-500, -400, 0, 1, 7, 77, (1 << 48) + (100 << 24), 4096, 1, NULL),	-- before the session, its call unseen
	(2250, 2260, 0, 1, 13, 2, (1 << 48) + (100 << 24),   64, 8, 8589934594),
	(2250, 2260, 0, 1, 12, 2, (1 << 48) + (100 << 24),   32, 99, 8589934595);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3000, 3000, 0, 1, 7, 4, (1 << 48) + (100 << 24), 0, 65536, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (6100, 6900, 1, 1, 7, 9, (1 << 48) + (200 << 24), 5, 6);

CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
	(1500, 2500, 59, NULL, NULL, NULL, NULL,         (1 << 48) + (100 << 24) + 101, NULL,   20, 3),
	(  10, NULL, 75, NULL, NULL, NULL, NULL,         (1 << 48) + (100 << 24) + 101, NULL,   21, 3),
	( 800, 3500, 59, NULL, NULL, NULL, 'repeat.0',   (1 << 48) + (100 << 24) + 101, NULL, NULL, 3),
	( 800, 1500, 59, NULL, NULL, NULL, 'prefill',    (1 << 48) + (100 << 24) + 101, NULL, NULL, 3),
	(1600, 1700, 59, NULL, NULL, NULL, 'aten::mm',   (1 << 48) + (100 << 24) + 101, NULL, NULL, 0),
	(1600, 1700, 59, NULL, NULL, NULL, 'other',      (1 << 48) + (100 << 24) + 102, NULL, NULL, 3),
	(1000, 4000, 60,    5, NULL, NULL, 'request',    (1 << 48) + (100 << 24) + 101, (1 << 48) + (100 << 24) + 102, NULL, 3),
	(1200, NULL, 34, NULL, NULL, NULL, 'here',       (1 << 48) + (100 << 24) + 101, NULL, NULL, NULL),
	(1650, NULL, 59, NULL, NULL, NULL, 'open',       (1 << 48) + (100 << 24) + 101, NULL, NULL, 0),
	(1660, 1670, 59, NULL, NULL, NULL, 'a' || char(9, 10) || 'b', (1 << 48) + (100 << 24) + 101, NULL, NULL, 0),
	(5000, 5001, 59, NULL, NULL, NULL, 'elsewhere',  (1 << 48) + (200 << 24) + 200, NULL, NULL, 3),
	(  20, NULL, 39, NULL, NULL, NULL, 'a thread',   (1 << 48) + (100 << 24) + 101, NULL, NULL, NULL),
	(  30, NULL, 33, NULL,    1, NULL, 'a category', (1 << 48) + (100 << 24) + 101, NULL, NULL, NULL);

CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES
	((1 << 48) + (1 << 32),     0, '', 0, 'GPC Clock Frequency [MHz]'), ((1 << 48) + (1 << 32),     0, '', 1, 'DRAM Read Bandwidth [Throughput %]'),
	((1 << 48) + (1 << 32),     0, '', 2, 'dram__bytes_read [sum]'),    ((1 << 48) + (1 << 32),     0, '', 3, 'Warps in Flight [Avg Warps per Cycle]'),
	((1 << 48) + (1 << 32) + 1, 0, '', 0, 'lts__t_sectors [sum]');
CREATE TABLE GPU_METRICS (rawTimestamp INTEGER NOT NULL, timestamp INTEGER NOT NULL, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL);
INSERT INTO GPU_METRICS VALUES
	(0, 50017, (1 << 48) + (1 << 32),     0, 1980000000), (0, 50017, (1 << 48) + (1 << 32),     1, 2),
	(0, 50017, (1 << 48) + (1 << 32),     2, 4096),       (0, 50017, (1 << 48) + (1 << 32),     3, 7),
	(0,     0, (1 << 48) + (1 << 32),     0, 1975000000), (0,     0, (1 << 48) + (1 << 32),     1, 0),
	(0,     0, (1 << 48) + (1 << 32),     2, -1024),      (0,     0, (1 << 48) + (1 << 32),     3, 0),
	(0,    10, (1 << 48) + (1 << 32) + 1, 0, 33),         (0, 60010, (1 << 48) + (1 << 32) + 1, 0, 44);

CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);
INSERT INTO DIAGNOSTIC_EVENT VALUES
	(7000, 2, 3, 2, 'Not all CUDA events might have been collected.', (1 << 48) + (100 << 24)),
	(-100, 1, 2, 3, 'GPU Metrics [0]: Metric config can not be scheduled' || char(10) || 'in a single pass', NULL),
	(   0, 1, 3, 1, 'Profiling has started.', NULL);
