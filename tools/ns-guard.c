/*
 * ns-guard: may a profiler be let loose on this machine now?  What ns-probe has
 * just seen, judged; each reason not to with its remedy.
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "ns.h"

enum { OPT_NEED = 256, OPT_SAVE, OPT_BUSY };
static const struct opt opts[] = {
	{ OPT_NEED, "need", "BYTES", "device memory that the watched program takes" },
	{ OPT_SAVE, "save", "BYTES", "of it, what replay may save and restore" },
	{ OPT_BUSY, "busy", "PERCENT", "how busy the GPU may be before (10)" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-guard",
	.purpose = "may a profiler be let loose on this machine now?",
	.operands = "[FILE]",
	.in = "name=value of ns-probe",
	.out = "guard found verdict why",
	.example = "ns-probe | ns-guard --need 16000000000",
	.opts = opts,
};

struct guard {
	struct kv probe;
	double	 need, save, busy;
	struct out out;
	unsigned n_failed;
};

/* why: of a failure, and what to do. */
static void
guard(struct guard *g, const char *name, const char *found, bool known, bool good,
    const char *why)
{
	out_text(&g->out, name);
	out_text(&g->out, found);
	out_text(&g->out, !known ? "na" : good ? "pass" : "fail");
	out_text(&g->out, known && !good ? why : NULL);
	out_row(&g->out);
	if (known && !good) {
		warnx("%s: %s", name, why);
		g->n_failed++;
	}
}

/* NAN: it is not said. */
static double
count_of(const struct guard *g, const char *key)
{
	return kv_get(&g->probe, key) != NULL ? (double)kv_count(&g->probe, key) : NAN;
}

static void
guard_gpu(struct guard *g)
{
	const char *why = kv_get(&g->probe, "gpu_why");
	char *text = xasprintf("no GPU to count on (%s): BACKEND=cpu measures "
	    "without one", why != NULL ? why : "NA");

	guard(g, "gpu", kv_get(&g->probe, "gpu"), true,
	    kv_get(&g->probe, "gpu") != NULL, text);
	free(text);
}

static void
guard_counters(struct guard *g)
{
	const char *may = kv_get(&g->probe, "counters_permitted");

	guard(g, "counters", may, may != NULL, may != NULL && strcmp(may, "1") == 0,
	    "GPU counters are for administrators only: setup/allow-counters.sh says "
	    "how it stands and, with --apply, opens them; or run as root, or in a "
	    "container with --cap-add=SYS_ADMIN");
}

static void
guard_profilers(struct guard *g)
{
	const char *who = kv_get(&g->probe, "profilers");
	char *text = xasprintf("another profiler is running (%s, its process); the "
	    "counters serve one at a time: wait for it or stop it, DCGM with "
	    "'dcgmi profile --pause'", who != NULL ? who : "NA");

	guard(g, "profilers", who, who != NULL, who != NULL && strcmp(who, "none") == 0,
	    text);
	free(text);
}

static void
guard_busy(struct guard *g)
{
	double busy = count_of(g, "gpu_busy_percent");
	char *text = xasprintf("the GPU is %g %% busy with work of %s process(es): its "
	    "bytes would be counted with ours; wait, or stop it", busy,
	    kv_get(&g->probe, "gpu_n_processes") != NULL ?
	    kv_get(&g->probe, "gpu_n_processes") : "unknown");

	guard(g, "busy", kv_get(&g->probe, "gpu_busy_percent"), !isnan(busy),
	    busy <= g->busy, text);
	free(text);
}

/* A cap on power is how a GPU works under load; heat and brakes are not. */
static void
guard_throttle(struct guard *g)
{
	const char *why = kv_get(&g->probe, "gpu_throttle");
	bool bad = why != NULL && (strstr(why, "thermal") != NULL ||
	    strstr(why, "hardware") != NULL);

	guard(g, "throttle", why, why != NULL, !bad, "the GPU slows itself down "
	    "(gpu_throttle): it is too hot or short of power; let it cool, look at "
	    "its supply and fans");
}

/*
 * Replay saves what kernels write, at worst all the program has, and holds it in
 * what is left of the device's memory, else the host's: the same where they are one.
 */
static void
guard_memory(struct guard *g)
{
	double host = count_of(g, "memory_available_bytes");
	double device = count_of(g, "nvml_free_bytes");
	bool one = kv_num(&g->probe, "gpu_integrated") == 1;
	double room = one ? host - host / 10 : device;
	double spare = one || isnan(room) ? room - g->need :
	    fmax(room - g->need, 0) + host / 2;
	char *found = isnan(room) ? NULL : xasprintf("%.0f", room), *text;

	text = xasprintf("the program takes %.0f bytes of device memory and %.0f are "
	    "free%s: a smaller model, batch or context", g->need, room,
	    one ? " (MemAvailable, less a tenth)" : "");
	guard(g, "memory", found, !isnan(room), g->need <= room, text);
	free(text);
	text = xasprintf("replay may save %.0f bytes and there is room for %.0f: out of "
	    "memory this machine can hang; count whole ranges instead, which saves "
	    "nothing (TIERS=0,1, no TIER1=kernel), or take a smaller model", g->save, fmax(spare, 0));
	guard(g, "replay", found, !isnan(spare), g->save <= spare, text);
	free(text);
	free(found);
}

int
main(int argc, char *argv[])
{
	struct guard g = { .busy = 10 };
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case OPT_NEED:
			g.need = (double)opt_count("need", optarg);
			break;
		case OPT_SAVE:
			g.save = (double)opt_count("save", optarg);
			break;
		case OPT_BUSY:
			g.busy = opt_num("busy", optarg);
		}
	if (argc - optind > 1)
		tool_usage(&tool);
	kv_read(&g.probe, argv[optind]);
	if (g.probe.n == 0)
		errx(NS_TROUBLE, "%s: empty: the settings of ns-probe were expected",
		    g.probe.path);
	out_open(&g.out, NULL);
	out_head(&g.out, tool.out);
	guard_gpu(&g);
	guard_counters(&g);
	guard_profilers(&g);
	guard_busy(&g);
	guard_throttle(&g);
	guard_memory(&g);
	out_close(&g.out);
	kv_free(&g.probe);
	return g.n_failed > 0 ? NS_NO : NS_OK;
}
