/*
 * ns-trace: a capture as a Chrome trace, which ui.perfetto.dev opens.
 *
 * in   work, ranges, api and samples, as nsys2tsv prints them
 * out  JSON: {"displayTimeUnit":"ns","traceEvents":[...]}, an event a line
 */
#include <err.h>
#include <unistd.h>

#include "intern.h"
#include "trace/json.h"

enum { OPT_API = 256, OPT_SAMPLES };
static const struct opt opts[] = {
	{ 'w', "work", "FILE", "what the GPU did, by device and stream" },
	{ 'r', "nvtx", "FILE", "NVTX ranges, by thread" },
	{ OPT_API, "api", "FILE", "API calls, by thread" },
	{ OPT_SAMPLES, "samples", "FILE", "GPU metrics, as counters" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-trace",
	.purpose = "a capture as a Chrome trace, which Perfetto opens",
	.operands = "",
	.in = "work (standard input unless an option is given), ranges, api, samples",
	.out = "JSON in the Chrome trace event format",
	.example = "nsys2tsv work t.sqlite | ns-trace >trace.json",
	.opts = opts,
};

/*
 * Perfetto has processes with threads.  Those of the CPU are themselves; a
 * device is a process for each process that used it, from DEVICES on, and a
 * thread is a stream.  Work that overlaps within a stream gets another lane.
 */
enum { DEVICES = 1 << 30, SAMPLES = DEVICES + (1 << 20), WINDOWS = SAMPLES + (1 << 20) };
struct lane {
	int64_t	end;
	size_t	next;		/* lane of the same stream; 0: none */
};
struct trace {
	struct out out;
	FILE	*fp;		/* of out */
	bool	 any;
	struct intern processes, threads;	/* those that have a name already */
	struct intern devices, streams;
	struct lane *lanes;	/* the first of each stream is its number */
	size_t	 n_lanes, cap_lanes;
	uint64_t n_async;
};

/* What every event begins with. */
static void
begin(struct trace *t, const char *ph, int64_t pid, int64_t tid, const char *name)
{
	json_raw(t->fp, t->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	t->any = true;
	json_raw(t->fp, ph);
	json_raw(t->fp, "\",\"pid\":");
	json_int(t->fp, pid);
	json_raw(t->fp, ",\"tid\":");
	json_int(t->fp, tid);
	json_raw(t->fp, ",\"name\":");
	json_text(t->fp, name);
}

static void
at(struct trace *t, const char *cat, int64_t start)
{
	json_raw(t->fp, ",\"cat\":\"");
	json_raw(t->fp, cat);
	json_raw(t->fp, "\",\"ts\":");
	json_us(t->fp, start);
}

static bool
is_new(struct intern *t, int64_t a, int64_t b)
{
	int64_t key[] = { a, b };
	uint32_t n = t->n;

	return intern(t, key, sizeof key) == n;
}

static void
name_it(struct trace *t, const char *what, int64_t pid, int64_t tid, char *name)
{
	begin(t, "M", pid, tid, what);
	json_raw(t->fp, ",\"args\":{\"name\":");
	json_text(t->fp, name);
	json_raw(t->fp, "}}");
	free(name);
}

static bool
new_process(struct trace *t, int64_t pid)
{
	return is_new(&t->processes, pid, 0);
}

static void
cpu(struct trace *t, int64_t pid, int64_t tid)
{
	if (!is_new(&t->threads, pid, tid))
		return;
	if (new_process(t, pid))
		name_it(t, "process_name", pid, 0,
		    xasprintf("process %lld", (long long)pid));
	name_it(t, "thread_name", pid, tid, xasprintf("thread %lld", (long long)tid));
}

/* The lane of a stream that is free at start; its number is its thread. */
static size_t
lane(struct trace *t, uint32_t stream, bool new, int64_t start, int64_t end)
{
	size_t i = stream;

	t->lanes = xgrow(t->lanes, &t->cap_lanes, t->n_lanes + 2, sizeof *t->lanes);
	if (new)
		t->lanes[t->n_lanes++] = (struct lane){ .end = INT64_MIN };
	for (; t->lanes[i].end > start; i = t->lanes[i].next)
		if (t->lanes[i].next == 0) {
			/* keeps lane and stream numbers in step */
			int64_t none[] = { -1, (int64_t)t->n_lanes, -1 };

			intern(&t->streams, none, sizeof none);
			t->lanes[i].next = t->n_lanes;
			t->lanes[t->n_lanes++] = (struct lane){ .end = INT64_MIN };
		}
	t->lanes[i].end = end;
	return i;
}

/* The process and thread that stand for a stream of a device. */
static void
place(struct trace *t, int64_t os_pid, int64_t device, int64_t stream,
    int64_t start, int64_t end, int64_t *pid, int64_t *tid)
{
	int64_t used[] = { os_pid, device }, key[3];
	uint32_t n = t->streams.n, s;
	size_t l;

	*pid = DEVICES + (int64_t)intern(&t->devices, used, sizeof used);
	if (new_process(t, *pid))
		name_it(t, "process_name", *pid, 0, xasprintf("GPU %lld, process %lld",
		    (long long)device, (long long)os_pid));
	key[0] = 0;
	key[1] = *pid;
	key[2] = stream;
	s = intern(&t->streams, key, sizeof key);
	l = lane(t, s, s == n, start, end);
	*tid = (int64_t)l + 1;
	if (is_new(&t->threads, *pid, *tid))
		name_it(t, "thread_name", *pid, *tid, l == s ?
		    xasprintf("stream %lld", (long long)stream) :
		    xasprintf("stream %lld, beside", (long long)stream));
}

static int64_t
integer(const struct tsv *in, size_t col)
{
	int64_t n;

	return tsv_int(in, col, &n) ? n : 0;
}

static void
args(struct trace *t, const struct tsv *in, const char *const *names)
{
	const char *sep = ",\"args\":{";

	for (; *names != NULL; names++) {
		size_t col = tsv_find(in, *names);

		if (col == TSV_NONE || tsv_is_na(in, col))
			continue;
		json_raw(t->fp, sep);
		json_text(t->fp, *names);
		json_raw(t->fp, ":");
		json_text(t->fp, in->val[col]);
		sep = ",";
	}
	json_raw(t->fp, *sep == ',' && sep[1] == '\0' ? "}}" : "}");
}

/* Windows and start_end ranges may overlap: async events have no stack. */
static void
async(struct trace *t, const char *cat, int64_t pid, int64_t tid,
    const char *name, int64_t start, int64_t end)
{
	uint64_t id = t->n_async++;

	for (int i = 0; i < 2; i++) {
		begin(t, i == 0 ? "b" : "e", pid, tid, name);
		at(t, cat, i == 0 ? start : end);
		fprintf(t->fp, ",\"id\":%llu}", (unsigned long long)id);
	}
}

static int64_t
needed(const struct tsv *in, size_t col)
{
	int64_t n;

	if (!tsv_int(in, col, &n))
		tsv_die(in, col, "may not be NA");
	return n;
}

static void
window(struct trace *t, const struct tsv *in, size_t phase, size_t step,
    int64_t start, int64_t end)
{
	char *name = xasprintf("%s.%s", in->val[phase], in->val[step]);

	if (new_process(t, WINDOWS))
		name_it(t, "process_name", WINDOWS, 0, xstrdup("phases"));
	async(t, "window", WINDOWS, 1, name, start, end);
	free(name);
}

static void
work(struct trace *t, const char *path)
{
	static const char *const more[] = { "phase", "step", "grid", "block",
	    "registers", "shared_bytes", "bytes", "launch_ns", "launch_id",
	    "graph_launch_id", NULL };
	struct tsv in;

	tsv_open(&in, path);
	size_t start = tsv_col(&in, "start_ns"), end = tsv_col(&in, "end_ns");
	size_t kind = tsv_col(&in, "kind"), device = tsv_col(&in, "device");
	size_t pid = tsv_col(&in, "pid"), stream = tsv_col(&in, "stream");
	size_t phase = tsv_col(&in, "phase"), step = tsv_col(&in, "step");
	size_t name = tsv_col(&in, "name");

	while (tsv_next(&in)) {
		int64_t from = needed(&in, start), to = needed(&in, end), dur, p, s;

		if (__builtin_sub_overflow(to, from, &dur) || dur < 0)
			tsv_die(&in, end, "before start_ns, or too far from it");
		if (strcmp(in.val[kind], "window") == 0) {
			window(t, &in, phase, step, from, to);
			continue;
		}
		place(t, integer(&in, pid), integer(&in, device),
		    integer(&in, stream), from, to, &p, &s);
		begin(t, "X", p, s, tsv_text(&in, name));
		at(t, strcmp(in.val[kind], "kernel") == 0 ? "kernel" : "memory", from);
		json_raw(t->fp, ",\"dur\":");
		json_us(t->fp, dur);
		args(t, &in, more);
	}
	tsv_close(&in);
}

/* An event of a thread; one without an end stays open. */
static void
slice(struct trace *t, const struct tsv *in, const char *cat, int64_t pid,
    int64_t tid, const char *name, int64_t start, size_t end)
{
	int64_t to, dur = 0;
	bool open = !tsv_int(in, end, &to);

	if (!open && (__builtin_sub_overflow(to, start, &dur) || dur < 0))
		tsv_die(in, end, "before start_ns, or too far from it");
	begin(t, open ? "B" : "X", pid, tid, name);
	at(t, cat, start);
	if (!open) {
		json_raw(t->fp, ",\"dur\":");
		json_us(t->fp, dur);
	}
	json_raw(t->fp, "}");
}

static void
ranges(struct trace *t, const char *path)
{
	struct tsv in;

	tsv_open(&in, path);
	size_t start = tsv_col(&in, "start_ns"), end = tsv_col(&in, "end_ns");
	size_t kind = tsv_col(&in, "kind"), name = tsv_col(&in, "name");
	size_t pid = tsv_col(&in, "pid"), tid = tsv_col(&in, "tid");

	while (tsv_next(&in)) {
		int64_t p = integer(&in, pid), i = integer(&in, tid), to;
		int64_t from = needed(&in, start);
		const char *s = tsv_text(&in, name);

		cpu(t, p, i);
		if (strcmp(in.val[kind], "mark") == 0) {
			begin(t, "i", p, i, s);
			at(t, "nvtx", from);
			json_raw(t->fp, ",\"s\":\"t\"}");
		} else if (strcmp(in.val[kind], "start_end") == 0 &&
		    tsv_int(&in, end, &to))
			async(t, "nvtx", p, i, s, from, to);
		else
			slice(t, &in, "nvtx", p, i, s, from, end);
	}
	tsv_close(&in);
}

static void
api(struct trace *t, const char *path)
{
	struct tsv in;

	tsv_open(&in, path);
	size_t start = tsv_col(&in, "start_ns"), end = tsv_col(&in, "end_ns");
	size_t name = tsv_col(&in, "name");
	size_t pid = tsv_col(&in, "pid"), tid = tsv_col(&in, "tid");

	while (tsv_next(&in)) {
		int64_t p = integer(&in, pid), i = integer(&in, tid);

		cpu(t, p, i);
		slice(t, &in, "api", p, i, tsv_text(&in, name),
		    needed(&in, start), end);
	}
	tsv_close(&in);
}

static void
samples(struct trace *t, const char *path)
{
	struct tsv in;

	tsv_open(&in, path);
	size_t when = tsv_col(&in, "time_ns"), gpu = tsv_col(&in, "gpu");
	size_t metric = tsv_col(&in, "metric"), value = tsv_col(&in, "value");

	while (tsv_next(&in)) {
		int64_t g = integer(&in, gpu);
		double x = tsv_num(&in, value);

		if (tsv_is_na(&in, value))
			continue;
		if (g < 0 || g >= WINDOWS - SAMPLES)
			tsv_die(&in, gpu, "no GPU has number %lld", (long long)g);
		if (new_process(t, SAMPLES + g))
			name_it(t, "process_name", SAMPLES + g, 0,
			    xasprintf("GPU %lld, sampled", (long long)g));
		begin(t, "C", SAMPLES + g, 0, tsv_text(&in, metric));
		at(t, "sample", needed(&in, when));
		fprintf(t->fp, ",\"args\":{\"value\":%.12g}}", x);
	}
	tsv_close(&in);
}

int
main(int argc, char *argv[])
{
	const char *w = NULL, *r = NULL, *a = NULL, *s = NULL;
	struct trace t = { 0 };
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1) {
		switch (ch) {
		case 'w': w = optarg; break;
		case 'r': r = optarg; break;
		case OPT_API: a = optarg; break;
		case OPT_SAMPLES: s = optarg; break;
		default: tool_usage(&tool);
		}
	}
	if (argc > optind)
		tool_usage(&tool);
	out_open(&t.out, NULL);
	t.fp = t.out.fp;
	json_raw(t.fp, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	if (w != NULL || (r == NULL && a == NULL && s == NULL))
		work(&t, w);
	if (r != NULL)
		ranges(&t, r);
	if (a != NULL)
		api(&t, a);
	if (s != NULL)
		samples(&t, s);
	json_raw(t.fp, "\n]}\n");
	out_close(&t.out);
	intern_free(&t.processes);
	intern_free(&t.threads);
	intern_free(&t.devices);
	intern_free(&t.streams);
	free(t.lanes);
	return NS_OK;
}
