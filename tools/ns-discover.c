/*
 * ns-discover: what a checkpoint is, from its config and headers alone.
 *
 * in   a Hugging Face directory, one .safetensors file, or a shape alone
 * out  model.kv or tensors.tsv
 */
#include <sys/stat.h>

#include <err.h>
#include <unistd.h>

#include "checkpoint.h"

static const struct opt opts[] = { { 0, NULL, NULL, NULL } };
static const struct tool tool = {
	.name = "ns-discover",
	.purpose = "what a checkpoint is: its shape, or all its tensors",
	.operands = "WHAT PATH",
	.in = "WHAT is model or tensors; PATH a Hugging Face directory, a .safetensors\n"
	    "     file (its tensors), or a shape alone: a config.json or .kv settings",
	.out = "model: name=value\n"
	    "     tensors: name role layer expert dtype shape n_elements bytes file offset_bytes",
	.example = "ns-discover tensors Qwen3-0.6B",
	.opts = opts,
};

static void
index_or_na(struct out *o, int i)
{
	if (i < 0)
		out_na(o);
	else
		out_count(o, (uint64_t)i);
}

static void
shape(struct out *o, const struct tensor *t)
{
	char text[MAX_DIMS * 21 + 8] = "scalar";
	size_t n = 0;

	for (unsigned i = 0; i < t->n_dims; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    i == 0 ? "%llu" : "x%llu", (unsigned long long)t->dim[i]);
	out_text(o, text);
}

static void
put_tensors(const struct checkpoint *c)
{
	struct out o;

	out_open(&o, NULL);
	out_head(&o, "name role layer expert dtype shape n_elements bytes file "
	    "offset_bytes");
	for (size_t i = 0; i < c->n_tensors; i++) {
		const struct tensor *t = &c->tensor[i];

		out_text(&o, t->name);
		out_text(&o, role_name(t->role));
		index_or_na(&o, t->layer);
		index_or_na(&o, t->expert);
		out_text(&o, dtype_name(t->dtype));
		shape(&o, t);
		out_count(&o, t->n_elements);
		if (t->dtype != DT_COUNT)
			out_count(&o, t->bytes);
		else
			out_na(&o);
		out_text(&o, c->n_files != 0 ? c->file[t->file] : NULL);
		if (c->n_files != 0)
			out_count(&o, t->offset);
		else
			out_na(&o);
		out_row(&o);
	}
	out_close(&o);
}

/* The dtype that most bytes are in; of a config alone, the one it names. */
static enum dtype
main_dtype(const struct checkpoint *c)
{
	uint64_t bytes[DT_COUNT] = { 0 };
	enum dtype most = DT_BOOL;

	if (c->n_files == 0)
		return c->arch.dtype;
	for (size_t i = 0; i < c->n_tensors; i++)
		bytes[c->tensor[i].dtype] += c->tensor[i].bytes;
	for (enum dtype d = 0; d < DT_COUNT; d++)
		if (bytes[d] > bytes[most])
			most = d;
	return most;
}

static void
count_or_na(struct out *o, const char *key, bool known, uint64_t n)
{
	if (known)
		out_kv_count(o, key, n);
	else
		out_kv(o, key, NULL);
}

static void
put_model(const struct checkpoint *c)
{
	bool stored = c->n_files != 0, known = stored || c->n_tensors != 0;
	enum dtype d = main_dtype(c);
	char hex[17];
	struct out o;

	out_open(&o, NULL);
	arch_write(&c->arch, &o);
	out_kv(&o, "dtype", d != DT_COUNT ? dtype_name(d) : NULL);
	count_or_na(&o, "n_tensors", known, c->n_tensors);
	count_or_na(&o, "n_files", stored, c->n_files);
	count_or_na(&o, "tensor_bytes", stored || c->bytes != 0, c->bytes);
	count_or_na(&o, "n_parameters", known, c->n_parameters);
	out_kv(&o, "synthetic", c->arch.synthetic ? "1" : "0");
	count_or_na(&o, "seed", c->arch.synthetic, c->arch.seed);
	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)c->fingerprint);
	out_kv(&o, "fingerprint", hex);
	out_close(&o);
}

static void
report_others(const struct checkpoint *c)
{
	enum { SHOWN = 5 };
	uint64_t n = 0, bytes = 0;

	for (size_t i = 0; i < c->n_tensors; i++)
		if (c->tensor[i].role == ROLE_OTHER) {
			n++;
			bytes += c->tensor[i].bytes;
		}
	if (n == 0)
		return;
	warnx("%s: %llu tensors of role other, %llu bytes:", c->dir,
	    (unsigned long long)n, (unsigned long long)bytes);
	n = 0;
	for (size_t i = 0; i < c->n_tensors && n <= SHOWN; i++)
		if (c->tensor[i].role == ROLE_OTHER && n++ < SHOWN)
			warnx("  %s", c->tensor[i].name);
	if (n > SHOWN)
		warnx("  ... (ns-discover tensors lists all)");
}

static bool
is_file(const char *path, const char *end)
{
	struct stat st;
	size_t n = strlen(path), m = strlen(end);

	return n >= m && strcmp(path + n - m, end) == 0 &&
	    stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* One file as a checkpoint of its own, without a config. */
static void
open_file(struct checkpoint *c, const char *path)
{
	struct tensor_list list = { 0 };
	const char *slash = strrchr(path, '/');

	*c = (struct checkpoint){ .fingerprint = FNV_START, .n_files = 1,
	    .dir = xstrdup(path) };
	c->file = xalloc(1, sizeof *c->file);
	c->file_bytes = xalloc(1, sizeof *c->file_bytes);
	c->file[0] = xstrdup(slash != NULL ? slash + 1 : path);
	c->file_bytes[0] = safetensors_read(path, 0, &list, &c->fingerprint);
	c->tensor = list.tensor;
	c->n_tensors = list.n;
}

/* A config by itself, or settings: what a checkpoint of it would hold. */
static void
open_shape(struct checkpoint *c, const char *path)
{
	struct tensor_list list = { 0 };
	struct kv kv = { 0 };

	*c = (struct checkpoint){ .fingerprint = FNV_START,
	    .dir = xstrdup(path) };
	if (is_file(path, ".json"))
		config_read(path, &c->arch, &c->fingerprint);
	else {
		kv_read(&kv, path);
		arch_read(&c->arch, &kv);
		kv_free(&kv);
	}
	if (arch_unsupported(&c->arch) == NULL)
		arch_tensors(&c->arch, &list);
	c->tensor = list.tensor;
	c->n_tensors = list.n;
	for (size_t i = 0; i < list.n; i++) {
		c->bytes += list.tensor[i].bytes;
		c->n_parameters += list.tensor[i].n_elements;
	}
}

static void
tensors(struct checkpoint *c)
{
	if (c->n_tensors == 0 && c->n_files == 0)
		errx(NS_TROUBLE, "%s: without its files: %s", c->dir,
		    arch_unsupported(&c->arch));
	put_tensors(c);
	report_others(c);
}

static void
model(struct checkpoint *c)
{
	put_model(c);
	if (arch_unsupported(&c->arch) != NULL)
		warnx("%s: ns-worker cannot run this model: %s", c->dir,
		    arch_unsupported(&c->arch));
	report_others(c);
}

int
main(int argc, char *argv[])
{
	struct checkpoint c;
	const char *what, *path;

	if (tool_opt(&tool, argc, argv) != -1 || argc - optind != 2)
		tool_usage(&tool);
	what = argv[optind];
	path = argv[optind + 1];
	if (strcmp(what, "model") != 0 && strcmp(what, "tensors") != 0)
		errx(NS_TROUBLE, "'%s': model or tensors was expected", what);
	if (is_file(path, ".json") || is_file(path, ".kv"))
		open_shape(&c, path);
	else if (is_file(path, ".safetensors") && *what == 't')
		open_file(&c, path);
	else
		checkpoint_open(&c, path);
	if (*what == 't')
		tensors(&c);
	else
		model(&c);
	checkpoint_close(&c);
	return NS_OK;
}
