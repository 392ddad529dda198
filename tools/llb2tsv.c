/*
 * llb2tsv: the JSON of llama-bench as a baseline.
 *
 * in   llama-bench -o json (an array) or -o jsonl (an object a line)
 * out  baseline.tsv: one row a repetition of a test
 *
 * pp tests are prefill, tg tests decode.  A repetition of tg is timed as a whole,
 * so its row holds all its steps, and step is NA.  A pg test times both phases
 * together: its phase is NA.
 */
#include <err.h>
#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "ns.h"

enum { OPT_TEST = 256, OPT_WHERE, OPT_ALL, OPT_SPREAD };
static const struct opt opts[] = {
	{ OPT_TEST, "test", "LIST", "these: pp512, tg128, pp512@d4096 (at that depth), pp512+tg128" },
	{ OPT_WHERE, "where", "KEY=VALUE", "those in whose entry KEY is VALUE; may be repeated" },
	{ OPT_ALL, "all", NULL, "every one, several of a phase too, one after another" },
	{ OPT_SPREAD, "spread", NULL, "a row a generated token, each an equal share of its repetition" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "llb2tsv",
	.purpose = "the JSON of llama-bench as a baseline",
	.operands = "[FILE]",
	.in = "llama-bench -o json or -o jsonl",
	.out = "repeat phase step n_tokens start_ns dur_ns test depth_tokens entry model",
	.example = "llb2tsv --test pp512,tg128 bench.json",
	.opts = opts,
};

struct entry {
	json_t	*o;
	uint64_t no;			/* within the file, from 0 */
	uint64_t n_prompt, n_gen, depth;
	char	test[80];		/* "pp512@d4096" */
	size_t	n_samples;
};
struct bench {
	const char *path;
	struct entry *entry;
	size_t	n, cap;
	char	**where;
	size_t	n_where, where_cap;
};

/* ---- one entry, checked */

_Noreturn static void
bad(const struct bench *b, uint64_t no, const char *key, const char *what)
{
	char *safe = terminal_safe(xasprintf("%s: %s", key, what));

	errx(NS_TROUBLE, "%s: entry %llu: %s", b->path, (unsigned long long)no, safe);
}

static uint64_t
count(const struct bench *b, const struct entry *e, const char *key)
{
	const json_t *v = json_object_get(e->o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		bad(b, e->no, key, "not a count");
	return (uint64_t)json_integer_value(v);
}

static uint64_t
sample(const struct bench *b, const struct entry *e, size_t i)
{
	const json_t *v = json_array_get(json_object_get(e->o, "samples_ns"), i);

	if (!json_is_integer(v) || json_integer_value(v) <= 0)
		bad(b, e->no, "samples_ns", "not a duration");
	return (uint64_t)json_integer_value(v);
}

/* The speed in the file, from the file's own samples: or somebody edited it. */
static void
check_speed(const struct bench *b, const struct entry *e)
{
	const json_t *v = json_object_get(e->o, "avg_ts");
	double said = json_number_value(v), sum = 0, mean;

	for (size_t i = 0; i < e->n_samples; i++)
		sum += 1e9 * (double)(e->n_prompt + e->n_gen) / (double)sample(b, e, i);
	mean = sum / (double)e->n_samples;
	if (json_is_number(v) && fabs(said - mean) > 1e-5 * mean + 1e-6) {
		char *what = xasprintf("%.6f, but the samples make it %.6f: the file "
		    "was edited", said, mean);

		bad(b, e->no, "avg_ts", what);
	}
}

static void
name_test(struct entry *e)
{
	char pp[24] = "", tg[24] = "", depth[24] = "";

	if (e->n_prompt != 0)
		snprintf(pp, sizeof pp, "pp%llu", (unsigned long long)e->n_prompt);
	if (e->n_gen != 0)
		snprintf(tg, sizeof tg, "%stg%llu", *pp != '\0' ? "+" : "",
		    (unsigned long long)e->n_gen);
	if (e->depth != 0)
		snprintf(depth, sizeof depth, "@d%llu", (unsigned long long)e->depth);
	snprintf(e->test, sizeof e->test, "%s%s%s", pp, tg, depth);
}

/* Someone's object around llama-bench's: the name under which that lies. */
static const char *
wrapped(json_t *o)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
		if (json_object_get(v, "samples_ns") != NULL ||
		    json_object_get(json_array_get(v, 0), "samples_ns") != NULL)
			return key;
	return NULL;
}

static void
add(struct bench *b, json_t *o, uint64_t no)
{
	struct entry e = { .o = o, .no = no };
	const json_t *samples = json_object_get(o, "samples_ns");
	const char *key;

	if (!json_is_object(o))
		errx(NS_TROUBLE, "%s: entry %llu: not an object: not llama-bench's JSON",
		    b->path, (unsigned long long)no);
	if (samples == NULL && (key = wrapped(o)) != NULL) {
		char *what = xasprintf("llama-bench's own object lies under it: "
		    "jq -c '.%s' FILE | llb2tsv", key);

		bad(b, no, key, what);
	}
	if (json_object_get(o, "n_prompt") == NULL || samples == NULL)
		bad(b, no, samples == NULL ? "samples_ns" : "n_prompt",
		    "missing: not an entry of llama-bench's");
	e.n_prompt = count(b, &e, "n_prompt");
	e.n_gen = count(b, &e, "n_gen");
	if (json_object_get(o, "n_depth") != NULL)
		e.depth = count(b, &e, "n_depth");
	e.n_samples = json_array_size(samples);
	if (e.n_samples == 0)
		bad(b, no, "samples_ns", "no repetition in it");
	if (e.n_prompt > INT64_MAX - e.n_gen || e.n_prompt + e.n_gen == 0)
		bad(b, no, "n_prompt, n_gen", "no tokens to time");
	check_speed(b, &e);
	name_test(&e);
	b->entry = xgrow(b->entry, &b->cap, b->n + 1, sizeof *b->entry);
	b->entry[b->n++] = e;
}

/* ---- the file */

static const struct {
	const char *begin, *what;
} others[] = {
	{ "|", "llama-bench's Markdown holds rounded means only: use -o json" },
	{ "build_commit,", "llama-bench's CSV holds means only: use -o json" },
	{ "CREATE TABLE", "llama-bench's SQL holds means only: use -o json" },
	{ "INSERT INTO", "llama-bench's SQL holds means only: use -o json" },
	{ "version https://git-lfs", "a Git LFS pointer: git lfs pull" },
	{ NULL, NULL }
};

_Noreturn static void
not_json(const struct bench *b, uint64_t line, const char *text, json_error_t *je)
{
	for (size_t i = 0; others[i].begin != NULL; i++)
		if (strncmp(text, others[i].begin, strlen(others[i].begin)) == 0)
			errx(NS_TROUBLE, "%s: %s", b->path, others[i].what);
	if (je != NULL)
		errx(NS_TROUBLE, "%s:%llu:%d: not JSON, or cut short: %s", b->path,
		    (unsigned long long)line, je->column, terminal_safe(je->text));
	errx(NS_TROUBLE, "%s:%llu: not JSON: llama-bench -o json (without 2>&1)", b->path,
	    (unsigned long long)line);
}

static void
read_array(struct bench *b, FILE *fp, uint64_t line, const char *text)
{
	json_error_t je;
	json_t *all = json_loadf(fp, JSON_REJECT_DUPLICATES, &je), *o;
	size_t i;

	if (ferror(fp))
		err(NS_TROUBLE, "%s", b->path);
	if (all == NULL)
		not_json(b, line + (uint64_t)je.line - 1, text, &je);
	json_array_foreach(all, i, o) {
		json_incref(o);
		add(b, o, i);
	}
	json_decref(all);
}

static void
read_line(struct bench *b, const char *s, size_t len, uint64_t line)
{
	json_error_t je;
	json_t *o;

	if (s[strspn(s, " \t\r\n")] == '\0')
		return;
	if (s[len - 1] != '\n' && s[len - 1] != '}')
		errx(NS_TROUBLE, "%s:%llu: last line cut short", b->path,
		    (unsigned long long)line);
	if (s[strspn(s, " \t")] != '{')
		not_json(b, line, s, NULL);
	if ((o = json_loadb(s, len, JSON_REJECT_DUPLICATES, &je)) == NULL)
		not_json(b, line, s, &je);
	add(b, o, b->n);
}

/* An array, or an object a line: the first character tells. */
static void
read_bench(struct bench *b, FILE *fp)
{
	char *s = NULL;
	size_t cap = 0;
	uint64_t line = 1;
	ssize_t len;
	int c;

	while ((c = getc(fp)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		line += c == '\n';
	ungetc(c, fp);
	if (c == '[') {
		read_array(b, fp, line, "");
	} else
		for (; (len = getline(&s, &cap, fp)) != -1; line++)
			read_line(b, s, (size_t)len, line);
	free(s);
	if (ferror(fp))
		err(NS_TROUBLE, "%s", b->path);
	if (b->n == 0)
		errx(NS_TROUBLE, "%s: empty: no entry", b->path);
}

/* ---- the choice */

static bool
is_value(const json_t *v, const char *text)
{
	char *s;
	bool same;

	if (json_is_string(v))
		return strcmp(json_string_value(v), text) == 0;
	if ((s = json_dumps(v, JSON_ENCODE_ANY)) == NULL)
		return false;
	same = strcmp(s, text) == 0;
	free(s);
	return same;
}

static bool
in_list(const char *list, const char *name)
{
	size_t n = strlen(name), k;

	for (; *list != '\0'; list += k + (list[k] == ',')) {
		k = strcspn(list, ",");
		if (k == n && strncmp(list, name, n) == 0)
			return true;
	}
	return false;
}

static bool
is_wanted(const struct bench *b, const struct entry *e, const char *tests)
{
	for (size_t i = 0; i < b->n_where; i++) {
		const char *eq = strchr(b->where[i], '=');
		char *key = xasprintf("%.*s", (int)(eq - b->where[i]), b->where[i]);
		const json_t *v = json_object_get(e->o, key);

		if (v == NULL)
			bad(b, e->no, key, "there is no such key");
		free(key);
		if (!is_value(v, eq + 1))
			return false;
	}
	return tests == NULL || in_list(tests, e->test);
}

static void
choose(struct bench *b, const char *tests)
{
	size_t n = 0;
	char *there = xstrdup("");

	for (size_t i = 0; i < b->n; i++) {
		struct entry e = b->entry[i];

		if (strlen(there) < 200 && !in_list(there, e.test)) {
			char *more = xasprintf("%s%s%s", there, *there != '\0' ? "," : "",
			    e.test);

			free(there);
			there = more;
		}
		if (is_wanted(b, &e, tests))
			b->entry[n++] = e;
		else
			json_decref(e.o);
	}
	b->n = n;
	if (n == 0)
		errx(NS_TROUBLE, "%s: no such test; there is %s", b->path, there);
	free(there);
}

/* Which key tells two entries of one test apart. */
static const char *
difference(const struct entry *a, const struct entry *b)
{
	const char *key;
	json_t *v;

	json_object_foreach(a->o, key, v)
		if (strncmp(key, "avg_", 4) != 0 && strncmp(key, "stddev_", 7) != 0 &&
		    strncmp(key, "samples_", 8) != 0 && strcmp(key, "test_time") != 0 &&
		    !json_equal(v, json_object_get(b->o, key)))
			return key;
	return NULL;
}

static const char *
phase(const struct entry *e)
{
	return e->n_gen == 0 ? "prefill" : e->n_prompt == 0 ? "decode" : NULL;
}

/* A baseline has one speed a phase. */
static void
one_a_phase(const struct bench *b)
{
	for (size_t i = 0; i < b->n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct entry *p = &b->entry[j], *q = &b->entry[i];
			const char *key = difference(p, q);

			if (phase(p) != phase(q))
				continue;
			if (strcmp(p->test, q->test) != 0)
				errx(NS_TROUBLE, "%s: %s and %s are both %s: choose by --test, "
				    "or --all", b->path, p->test, q->test,
				    phase(p) != NULL ? phase(p) : "of both phases");
			errx(NS_TROUBLE, "%s: entries %llu and %llu are both %s, %s%s: choose "
			    "by --where KEY=VALUE, or --all", b->path,
			    (unsigned long long)p->no, (unsigned long long)q->no, p->test,
			    key != NULL ? "and differ by " : "a test run twice",
			    key != NULL ? key : "");
		}
}

/* ---- rows */

static void
print_row(struct out *o, const struct entry *e, size_t repeat, int64_t step,
    uint64_t tokens, uint64_t dur)
{
	out_count(o, repeat);
	out_text(o, phase(e));
	if (step < 0)
		out_na(o);
	else
		out_int(o, step);
	out_count(o, tokens);
	out_na(o);
	out_count(o, dur);
	out_text(o, e->test);
	out_count(o, e->depth);
	out_count(o, e->no);
	out_text(o, json_string_value(json_object_get(e->o, "model_type")));
	out_row(o);
}

static void
print_repeat(const struct bench *b, struct out *o, const struct entry *e, size_t i,
    bool spread)
{
	uint64_t dur, n = e->n_gen;

	if (i >= e->n_samples)
		return;
	dur = sample(b, e, i);
	if (spread && e->n_prompt == 0)		/* the shares sum to the whole */
		for (uint64_t k = 0; k < n; k++)
			print_row(o, e, i, (int64_t)k, 1, dur / n + (k < dur % n));
	else
		print_row(o, e, i, e->n_gen == 0 ? 0 : -1, e->n_prompt + n, dur);
}

static void
print_bench(const struct bench *b, bool all, bool spread)
{
	struct out o;
	size_t most = 0;

	out_open(&o, NULL);
	out_head(&o, tool.out);
	for (size_t i = 0; i < b->n; i++)
		if (b->entry[i].n_samples > most)
			most = b->entry[i].n_samples;
	if (all)
		for (size_t i = 0; i < b->n; i++)
			for (size_t k = 0; k < b->entry[i].n_samples; k++)
				print_repeat(b, &o, &b->entry[i], k, spread);
	else				/* a repeat in one piece */
		for (size_t k = 0; k < most; k++)
			for (size_t i = 0; i < b->n; i++)
				print_repeat(b, &o, &b->entry[i], k, spread);
	out_close(&o);
}

int
main(int argc, char *argv[])
{
	struct bench b = { .path = "stdin" };
	const char *tests = NULL;
	bool all = false, spread = false;
	FILE *fp = stdin;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case OPT_TEST: tests = optarg; break;
		case OPT_ALL: all = true; break;
		case OPT_SPREAD: spread = true; break;
		case OPT_WHERE:
			if (strchr(optarg, '=') == NULL)
				errx(NS_TROUBLE, "--where: not KEY=VALUE: '%s'", optarg);
			b.where = xgrow(b.where, &b.where_cap, b.n_where + 1, sizeof *b.where);
			b.where[b.n_where++] = optarg;
		}
	if (argc - optind > 1)
		tool_usage(&tool);
	if (optind < argc && strcmp(argv[optind], "-") != 0) {
		b.path = argv[optind];
		if ((fp = fopen(b.path, "r")) == NULL)
			err(NS_TROUBLE, "%s", b.path);
	}
	read_bench(&b, fp);
	choose(&b, tests);
	if (!all)
		one_a_phase(&b);
	print_bench(&b, all, spread);
	while (b.n > 0)
		json_decref(b.entry[--b.n].o);
	free(b.entry);
	free(b.where);
	if (fp != stdin)
		fclose(fp);
	return NS_OK;
}
