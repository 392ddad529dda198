/* checkpoint.c: a directory's files, held against each other and its config. */
#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <jansson.h>
#include <unistd.h>

#include "checkpoint.h"

static const char index_name[] = "model.safetensors.index.json";
static const char single_name[] = "model.safetensors";

static bool
has(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	bool yes = access(path, F_OK) == 0;

	free(path);
	return yes;
}

static bool
ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static bool
has_any(const char *dir, const char *end)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	bool yes = false;

	if (d == NULL)
		err(NS_TROUBLE, "%s", dir);
	while (!yes && (e = readdir(d)) != NULL)
		yes = ends_in(e->d_name, end);
	closedir(d);
	return yes;
}

static void
check_path(const char *dir)
{
	size_t ok = strspn(dir, kv_value_chars);
	struct stat st;

	if (*dir == '\0' || stat(dir, &st) != 0)
		err(NS_TROUBLE, "checkpoint '%s'", dir);
	if (dir[ok] != '\0')
		errx(NS_TROUBLE, "'%s': a '%c' in its path, which make cannot "
		    "carry: rename it, or link to it: ln -s", dir, dir[ok]);
	if (!S_ISDIR(st.st_mode))
		errx(NS_TROUBLE, "%s: not a directory: give the one that holds "
		    "config.json and model.safetensors", dir);
}

/* There is neither model.safetensors nor an index: say what there is. */
_Noreturn static void
refuse(const char *dir)
{
	if (has(dir, "adapter_config.json") || has(dir, "adapter_model.safetensors"))
		errx(NS_TROUBLE, "%s: an adapter, not a model: merge it into its "
		    "base model (peft: merge_and_unload) and give the result", dir);
	if (has_any(dir, ".safetensors"))
		errx(NS_TROUBLE, "%s: safetensors files, but neither %s nor %s: "
		    "fetch the index too", dir, single_name, index_name);
	if (has_any(dir, ".bin") || has_any(dir, ".pt") || has_any(dir, ".pth"))
		errx(NS_TROUBLE, "%s: only pickled weights (.bin), which are not "
		    "read: convert them with transformers: "
		    "save_pretrained(DIR, safe_serialization=True)", dir);
	if (has(dir, "snapshots"))
		errx(NS_TROUBLE, "%s: a model's place in the download cache: give "
		    "the directory in its snapshots/", dir);
	if (has_any(dir, ".gguf"))
		errx(NS_TROUBLE, "%s: a GGUF model, which is not read: give a "
		    "directory with config.json and model.safetensors", dir);
	errx(NS_TROUBLE, "%s: no %s: not a Hugging Face model", dir, single_name);
}

static json_t *
read_index(const struct checkpoint *c)
{
	char *path = xasprintf("%s/%s", c->dir, index_name);
	json_error_t e;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &e);

	if (root == NULL && access(path, R_OK) != 0)
		err(NS_TROUBLE, "%s", path);
	if (root == NULL)
		errx(NS_TROUBLE, "%s:%d:%d: %s", path, e.line, e.column,
		    terminal_safe(e.text));
	if (!json_is_object(json_object_get(root, "weight_map")))
		errx(NS_TROUBLE, "%s: no weight_map", path);
	free(path);
	return root;
}

static size_t
find_file(const struct checkpoint *c, const char *name)
{
	size_t i = 0;

	while (i < c->n_files && strcmp(c->file[i], name) != 0)
		i++;
	return i;
}

static int
by_name(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* The shards that the index names, each once, in the order of their names. */
static void
list_shards(struct checkpoint *c, json_t *map)
{
	const char *tensor;
	json_t *j;
	size_t cap = 0;

	json_object_foreach(map, tensor, j) {
		const char *name = json_string_value(j);

		if (!is_terminal_safe(tensor))
			errx(NS_TROUBLE, "%s/%s: a tensor has a control character "
			    "in its name", c->dir, index_name);
		if (name == NULL || !is_terminal_safe(name) || strchr(name, '/') != NULL || *name == '.' ||
		    !ends_in(name, ".safetensors"))
			errx(NS_TROUBLE, "%s/%s: tensor '%s': not the name of a "
			    ".safetensors file in the same directory", c->dir,
			    index_name, tensor);
		if (find_file(c, name) < c->n_files)
			continue;
		c->file = xgrow(c->file, &cap, c->n_files + 1, sizeof *c->file);
		c->file[c->n_files++] = xstrdup(name);
	}
	qsort(c->file, c->n_files, sizeof *c->file, by_name);
	for (size_t i = 0; i < c->n_files; i++)
		if (!has(c->dir, c->file[i]))
			errx(NS_TROUBLE, "%s/%s: missing; %s names it: fetch it",
			    c->dir, c->file[i], index_name);
}

static void
read_headers(struct checkpoint *c)
{
	struct tensor_list list = { 0 };

	c->file_bytes = xalloc(c->n_files, sizeof *c->file_bytes);
	for (size_t i = 0; i < c->n_files; i++) {
		char *path = xasprintf("%s/%s", c->dir, c->file[i]);

		c->file_bytes[i] = safetensors_read(path, i, &list,
		    &c->fingerprint);
		free(path);
	}
	c->tensor = list.tensor;
	c->n_tensors = list.n;
	/* The sums of what lies in files stay below their sizes' sum. */
	for (size_t i = 0; i < c->n_tensors; i++) {
		c->bytes += c->tensor[i].bytes;
		c->n_parameters += c->tensor[i].n_elements;
	}
}

static bool
stands_before(const struct checkpoint *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(c->tensor[i].name, c->tensor[n].name) == 0)
			return true;
	return false;
}

/*
 * Index and headers must name the same tensors in the same files.  What is
 * found is taken out of the map; what is left there is missing.
 */
static void
check_index(const struct checkpoint *c, json_t *map)
{
	const char *file, *name;
	json_t *j;

	for (size_t i = 0; i < c->n_tensors; i++) {
		const struct tensor *t = &c->tensor[i];

		name = c->file[t->file];
		file = json_string_value(json_object_get(map, t->name));
		if (file == NULL)
			errx(NS_TROUBLE, "%s/%s: tensor '%s' %s", c->dir, name,
			    t->name, stands_before(c, i) ?
			    "stands in another file too" : "is not in the index");
		if (strcmp(file, name) != 0)
			errx(NS_TROUBLE, "%s/%s: tensor '%s' is in this file, "
			    "the index says %s", c->dir, name, t->name, file);
		json_object_del(map, t->name);
	}
	json_object_foreach(map, name, j) {
		errx(NS_TROUBLE, "%s/%s: tensor '%s' is missing; the index says "
		    "it is here", c->dir, json_string_value(j), name);
	}
}

static void
note_total(const struct checkpoint *c, const json_t *root)
{
	const json_t *total = json_object_get(json_object_get(root, "metadata"),
	    "total_size");

	if (total != NULL && (uint64_t)json_integer_value(total) != c->bytes)
		warnx("%s/%s: total_size is %lld, the headers hold %llu bytes: "
		    "the headers count", c->dir, index_name,
		    (long long)json_integer_value(total),
		    (unsigned long long)c->bytes);
}

static void
read_files(struct checkpoint *c)
{
	json_t *root = NULL;

	if (has(c->dir, single_name)) {
		c->file = xalloc(1, sizeof *c->file);
		c->file[c->n_files++] = xstrdup(single_name);
	} else {
		if (!has(c->dir, index_name))
			refuse(c->dir);
		root = read_index(c);
		list_shards(c, json_object_get(root, "weight_map"));
	}
	read_headers(c);
	if (root != NULL) {
		check_index(c, json_object_get(root, "weight_map"));
		note_total(c, root);
	}
	json_decref(root);
}

static int
by_role(const void *a, const void *b)
{
	const struct tensor *x = *(const struct tensor *const *)a;
	const struct tensor *y = *(const struct tensor *const *)b;

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return (x->expert > y->expert) - (x->expert < y->expert);
}

static void
index_roles(struct checkpoint *c)
{
	c->by_role = xalloc(c->n_tensors, sizeof *c->by_role);
	for (size_t i = 0; i < c->n_tensors; i++)
		c->by_role[i] = &c->tensor[i];
	qsort(c->by_role, c->n_tensors, sizeof *c->by_role, by_role);
	for (size_t i = 1; i < c->n_tensors; i++) {
		const struct tensor *a = c->by_role[i - 1], *b = c->by_role[i];

		if (a->role != ROLE_OTHER && by_role(&a, &b) == 0)
			errx(NS_TROUBLE, "%s: tensors '%s' and '%s' are both the "
			    "%s", c->dir, a->name, b->name, role_name(a->role));
	}
}

/* Where config.json leaves it open, a stored lm_head says the model is untied. */
static void
settle_tied(struct checkpoint *c)
{
	struct arch *a = &c->arch;
	struct tensor *head = NULL;

	for (size_t i = 0; i < c->n_tensors; i++)
		if (c->tensor[i].role == ROLE_LM_HEAD)
			head = &c->tensor[i];
	if (a->tied_unsaid)
		a->tied = head == NULL;
	if (a->tied && head != NULL) {
		warnx("%s: tie_word_embeddings is true, and yet '%s' is stored: "
		    "%llu bytes that are not used, role other", c->dir,
		    head->name, (unsigned long long)head->bytes);
		head->role = ROLE_OTHER;
	}
}

/* What lies beyond the layers that config.json asks for is never executed. */
static void
leave_layers(struct checkpoint *c)
{
	struct tensor *t = c->tensor, *end = t + c->n_tensors;

	if (arch_unsupported(&c->arch) != NULL)
		return;
	for (; t < end; t++)
		if (t->role != ROLE_OTHER && t->layer >= 0 &&
		    (uint64_t)t->layer >= c->arch.n_layers)
			t->role = ROLE_OTHER;
}

static char *
shape_text(const struct tensor *t)
{
	char *s = xstrdup(t->n_dims == 0 ? "scalar" : "");

	for (unsigned i = 0; i < t->n_dims; i++) {
		char *longer = xasprintf(i == 0 ? "%s%llu" : "%sx%llu", s,
		    (unsigned long long)t->dim[i]);

		free(s);
		s = longer;
	}
	return s;
}

/* What the architecture needs is there, in its shape. */
static void
check_needed(struct checkpoint *c)
{
	struct tensor_list need = { 0 };

	arch_tensors(&c->arch, &need);
	for (size_t i = 0; i < need.n; i++) {
		const struct tensor *n = &need.tensor[i];
		const struct tensor *t = checkpoint_find(c, n->role, n->layer,
		    n->expert);

		if (t == NULL)
			errx(NS_TROUBLE, "%s: tensor '%s' is missing; a %s of "
			    "this config needs it", c->dir, n->name,
			    c->arch.architecture);
		if (t->n_dims != n->n_dims || memcmp(t->dim, n->dim,
		    sizeof n->dim) != 0)
			errx(NS_TROUBLE, "%s: tensor '%s' is %s; config.json "
			    "makes it %s", c->dir, t->name, shape_text(t),
			    shape_text(n));
		if (t->dtype != DT_F32 && t->dtype != DT_F16 && t->dtype != DT_BF16) {
			snprintf(c->arch.unsupported, sizeof c->arch.unsupported,
			    "weights of %s are neither F32, F16 nor BF16",
			    dtype_name(t->dtype));
			break;
		}
	}
	tensor_list_free(&need);
}

void
checkpoint_open(struct checkpoint *c, const char *dir)
{
	char *config = xasprintf("%s/config.json", dir);

	*c = (struct checkpoint){ .fingerprint = FNV_START };
	check_path(dir);
	c->dir = xstrdup(dir);
	if (!has(dir, single_name) && !has(dir, index_name))
		refuse(dir);
	config_read(config, &c->arch, &c->fingerprint);
	read_files(c);
	settle_tied(c);
	leave_layers(c);
	index_roles(c);
	if (arch_unsupported(&c->arch) == NULL)
		check_needed(c);
	free(config);
}

const struct tensor *
checkpoint_find(const struct checkpoint *c, enum role role, int layer, int expert)
{
	const struct tensor want = { .role = role, .layer = layer,
	    .expert = expert }, *p = &want;
	const struct tensor *const *t = c->n_tensors == 0 ? NULL :
	    bsearch(&p, c->by_role, c->n_tensors, sizeof p, by_role);

	return t != NULL ? *t : NULL;
}
