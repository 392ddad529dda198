/*
 * timeline-oracle: a random work table, and its timeline by counting.
 *
 * usage: timeline-oracle SEED TABLE >EXPECTED
 *
 * Shares nothing with ns-timeline: every nanosecond of every device is a slot
 * that holds how many rows cover it, and windows are read off slot by slot.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 240, MAX_ROWS = 60, MAX_WINDOWS = 8, DEVICES = 3, PIDS = 2 };

struct row {
	int start, end, kind, device, pid, graph, phase, step;	/* -1: NA */
};
struct window {
	int start, end, phase, step, pid;	/* pid -1: any */
};
static const char *const kinds[] = { "kernel", "copy", "set", "graph" };
static const char *const phases[] = { "prefill", "decode" };

static unsigned
below(unsigned n)
{
	static unsigned long long x;

	if (n == 0)
		return 0;
	if (x == 0)
		x = strtoull(getenv("ORACLE_SEED"), NULL, 10) * 2654435761u + 1;
	x = x * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(x >> 33) % n;
}

static int
make_rows(struct row *r)
{
	int n = (int)below(MAX_ROWS), long_ones = (int)below(3);

	for (int i = 0; i < n; i++) {
		int start = (int)below(SLOTS), dur = (int)below(long_ones ? 60 : 6);

		if (i > 0 && below(4) == 0)	/* touching */
			start = r[i - 1].end;
		if (start + dur > SLOTS)
			dur = SLOTS - start;
		r[i] = (struct row){ start, start + dur, below(12) == 0 ? 3 :
		    (int)below(6) % 3, (int)below(DEVICES), (int)below(20) == 0 ?
		    -1 : (int)below(PIDS),
		    below(2) ? (int)below(5) : -1, -1, -1 };
		if (r[i].kind == 3)
			r[i].graph = 100 + i;
	}
	return n;
}

static int
make_windows(struct window *w)
{
	int n = 1 + (int)below(MAX_WINDOWS), mode = (int)below(3), t = 0;

	for (int i = 0; i < n; i++) {
		int start = mode == 0 ? (int)below(SLOTS) : t + (int)below(9);
		int dur = (int)below(mode == 0 ? 120 : 30);

		if (start > SLOTS)
			start = SLOTS;
		if (start + dur > SLOTS)
			dur = SLOTS - start;
		t = start + dur;
		w[i] = (struct window){ start, t, i > 0, i > 0 ? i - 1 : 0,
		    mode == 2 ? (int)below(PIDS) : -1 };
		if (below(10) == 0 && i > 0)
			w[i].step = w[i - 1].step;
	}
	return n;
}

static void
write_table(const char *path, const struct row *r, int n, const struct window *w, int n_w)
{
	FILE *fp = fopen(path, "w");

	if (fp == NULL)
		exit(2);
	fputs("start_ns\tend_ns\tkind\tdevice\tpid\tstream\tlaunch_ns\tlaunch_id\t"
	    "graph_launch_id\tphase\tstep\tname\n", fp);
	for (int i = 0; i < n_w; i++) {
		fprintf(fp, "%d\t%d\twindow\tNA\t", w[i].start, w[i].end);
		fprintf(fp, w[i].pid < 0 ? "NA" : "%d", w[i].pid);
		fprintf(fp, "\tNA\tNA\tNA\tNA\t%s\t%d\tgiven\n",
		    phases[w[i].phase], w[i].step);
	}
	for (int i = 0; i < n; i++) {
		fprintf(fp, "%d\t%d\t%s\t%d\t", r[i].start, r[i].end,
		    kinds[r[i].kind], r[i].device);
		fprintf(fp, r[i].pid < 0 ? "NA" : "%d", r[i].pid);
		fprintf(fp, "\t7\tNA\t%d\t", i);
		fprintf(fp, r[i].graph < 0 ? "NA" : "%d", r[i].graph);
		if (r[i].phase < 0)
			fprintf(fp, "\tNA\tNA\tk%d\n", i);
		else
			fprintf(fp, "\t%s\t%d\tk%d\n", phases[r[i].phase], r[i].step, i);
	}
	if (fclose(fp) != 0)
		exit(2);
}

struct sums {
	int wall, busy, work, gaps, largest, windows, kernels, launches, graphs,
	    hidden, kernel_ns;
	bool opaque;
};

/* One window on one device, slot by slot. */
static void
measure(struct sums *s, const struct window *w, const struct row *r, int n, int device)
{
	int run = 0;

	for (int t = w->start; t < w->end; t++) {
		int depth = 0;
		bool mark = false;

		for (int i = 0; i < n; i++) {
			if (r[i].device != device)
				continue;
			depth += r[i].start <= t && t < r[i].end;
			mark |= r[i].start == t && r[i].end == t;
			s->opaque |= r[i].kind == 3 && r[i].start <= t && t < r[i].end;
		}
		if (depth == 0 && (run == 0 || mark)) {
			s->gaps++;
			run = 0;
		}
		run = depth == 0 ? run + 1 : 0;
		s->largest = run > s->largest ? run : s->largest;
		s->busy += depth > 0;
		s->work += depth;
	}
	s->wall += w->end - w->start;
	s->windows++;
}

static void
count(struct sums *s, const struct window *w, const struct row *r, int n, int device)
{
	for (int i = 0; i < n; i++) {
		bool seen = false;

		if (r[i].device != device || r[i].phase != w->phase ||
		    r[i].step != w->step || (w->pid >= 0 && r[i].pid >= 0 &&
		    r[i].pid != w->pid))
			continue;
		s->kernels += r[i].kind == 0;
		s->kernel_ns += r[i].kind == 0 ? r[i].end - r[i].start : 0;
		s->hidden += r[i].kind == 3;
		if (r[i].graph < 0) {
			s->launches += r[i].kind == 0;
			continue;
		}
		for (int j = 0; j < i; j++)
			seen |= r[j].graph == r[i].graph && r[j].pid == r[i].pid &&
			    r[j].device == device && r[j].phase >= 0;
		s->graphs += !seen;
		s->launches += !seen;
	}
}

static void
print(const struct sums *s, const struct window *w, int device)
{
	printf("%s\t%d\t", phases[w->phase], w->step);
	printf(w->pid < 0 ? "NA\t" : "%d\t", w->pid);
	printf(device < 0 ? "NA\t" : "%d\t", device);
	printf("%d\t%d\t%d\t", s->wall, s->busy, s->wall - s->busy);
	printf(s->hidden ? "NA\t" : "%d\t", s->kernels);
	printf("%d\t%d\t", s->launches, s->graphs);
	printf(s->hidden ? "NA\t" : "%d\t", s->kernel_ns);
	printf("%d\t%d\t%d\t%d\t%d\n", s->largest, s->gaps, s->work - s->busy,
	    s->windows, !s->hidden && !s->opaque);
}

static bool
uses(const struct row *r, int n, int pid, int device)
{
	for (int i = 0; i < n; i++)
		if ((device < 0 || r[i].device == device) &&
		    (pid < 0 || r[i].pid < 0 || r[i].pid == pid))
			return true;
	return false;
}

static void
solve(const struct row *r, int n, const struct window *w, int n_w)
{
	/* phase 0 is the first window; keys within a phase by step, pid, device */
	int first = 0;

	for (int i = 1; i < n_w; i++)
		if (w[i].start < w[first].start || (w[i].start == w[first].start &&
		    w[i].end < w[first].end))
			first = i;
	for (int p = 0; p < 2; p++)
	    for (int step = 0; step < MAX_WINDOWS; step++)
		for (int pid = -1; pid < PIDS; pid++)
		    for (int d = -1; d < DEVICES; d++) {
			struct window key = { 0, 0, p == 0 ? w[first].phase :
			    1 - w[first].phase, step, pid };
			struct sums s = { 0 };

			if (d < 0 ? uses(r, n, pid, -1) : !uses(r, n, pid, d))
				continue;
			for (int i = 0; i < n_w; i++)
				if (w[i].phase == key.phase && w[i].step == step &&
				    w[i].pid == pid)
					measure(&s, &w[i], r, n, d);
			if (s.windows == 0)
				continue;
			count(&s, &key, r, n, d);
			print(&s, &key, d);
		    }
}

int
main(int argc, char *argv[])
{
	struct row r[MAX_ROWS];
	struct window w[MAX_WINDOWS + 1];
	int n, n_w;

	if (argc != 3 || setenv("ORACLE_SEED", argv[1], 1) != 0)
		return 2;
	n = make_rows(r);
	n_w = make_windows(w);
	for (int i = 0; i < n; i++) {		/* any assignment will do */
		int k = (int)below((unsigned)n_w + 1);

		/* all rows of a graph launch have one phase and step */
		for (int j = 0; j < i && r[i].graph >= 0; j++)
			if (r[j].graph == r[i].graph && r[j].pid == r[i].pid) {
				r[i].phase = r[j].phase;
				r[i].step = r[j].step;
				k = -1;
			}
		if (k >= 0 && k < n_w) {
			r[i].phase = w[k].phase;
			r[i].step = w[k].step;
		}
	}
	write_table(argv[2], r, n, w, n_w);
	puts("phase\tstep\tpid\tdevice\twall_ns\tbusy_ns\tidle_ns\tn_kernels\t"
	    "n_launches\tn_graph_launches\tsum_kernel_ns\tlargest_gap_ns\tn_gaps\t"
	    "overlap_ns\tn_windows\treliable");
	solve(r, n, w, n_w);
	return 0;
}
