/*
 * safetensors.c: a file's header, from untrusted bytes.
 *
 * A file is a 64-bit little-endian length, that many bytes of JSON, and the
 * data.  The tensors must cover the data exactly: no hole, no overlap, nothing
 * behind the last.
 */
#include <sys/stat.h>

#include <err.h>
#include <jansson.h>
#ifdef FUZZ
#include <setjmp.h>
#endif

#include "checkpoint.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensor data is little-endian and used as it lies in the file"
#endif

/* Policy: the largest header seen in public is 132 MB, of 1.3 million tensors. */
enum { HEADER_MAX = 1 << 30 };

#ifdef FUZZ
static jmp_buf refused;
#define errx(...) longjmp(refused, 1)
#endif

void
fnv(uint64_t *hash, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ p[i]) * UINT64_C(0x100000001b3);
}

static uint64_t
count(const char *path, const char *tensor, const char *what, const json_t *j)
{
	if (!json_is_integer(j) || json_integer_value(j) < 0)
		errx(NS_TROUBLE, "%s: tensor '%s': %s: not a count", path,
		    tensor, what);
	return (uint64_t)json_integer_value(j);
}

static void
read_shape(const char *path, struct tensor *t, const json_t *shape)
{
	uint64_t bits;
	size_t n = json_array_size(shape);

	if (!json_is_array(shape) || n > MAX_DIMS)
		errx(NS_TROUBLE, "%s: tensor '%s': a shape of at most %d "
		    "dimensions was expected", path, t->name, MAX_DIMS);
	t->n_dims = (unsigned)n;
	t->n_elements = 1;
	for (size_t i = 0; i < n; i++) {
		t->dim[i] = count(path, t->name, "shape", json_array_get(shape, i));
		if (!mul_ok(t->n_elements, t->dim[i], &t->n_elements))
			errx(NS_TROUBLE, "%s: tensor '%s': its shape has more "
			    "than 2^64 elements", path, t->name);
	}
	if (!mul_ok(t->n_elements, (uint64_t)dtype_bits(t->dtype), &bits))
		errx(NS_TROUBLE, "%s: tensor '%s': its shape has more than "
		    "2^64 bits", path, t->name);
	if (bits % 8 != 0)
		errx(NS_TROUBLE, "%s: tensor '%s': %llu elements of %s do not "
		    "end at a byte", path, t->name,
		    (unsigned long long)t->n_elements, dtype_name(t->dtype));
	t->bytes = bits / 8;
}

/* Tensor t, whose data must lie in [data, data + size) of the file. */
static void
read_tensor(const char *path, struct tensor *t, const json_t *j, uint64_t data,
    uint64_t size)
{
	const json_t *span = json_object_get(j, "data_offsets");
	const char *dtype = json_string_value(json_object_get(j, "dtype"));
	char shown[16];
	uint64_t from, to;

	if (dtype == NULL)
		errx(NS_TROUBLE, "%s: tensor '%s': no dtype", path, t->name);
	snprintf(shown, sizeof shown, "%s", dtype);
	if (!dtype_parse(dtype, &t->dtype) ||
	    strcmp(dtype, dtype_name(t->dtype)) != 0)
		errx(NS_TROUBLE, "%s: tensor '%s': dtype %s: not a dtype that is "
		    "known", path, t->name, terminal_safe(shown));
	read_shape(path, t, json_object_get(j, "shape"));
	if (json_array_size(span) != 2)
		errx(NS_TROUBLE, "%s: tensor '%s': data_offsets of two numbers "
		    "were expected", path, t->name);
	from = count(path, t->name, "data_offsets", json_array_get(span, 0));
	to = count(path, t->name, "data_offsets", json_array_get(span, 1));
	if (from > to)
		errx(NS_TROUBLE, "%s: tensor '%s': data_offsets are reversed: "
		    "%llu, %llu", path, t->name, (unsigned long long)from,
		    (unsigned long long)to);
	if (to > size)
		errx(NS_TROUBLE, "%s: tensor '%s' ends at byte %llu of %llu: the "
		    "file was cut short: fetch it again", path, t->name,
		    (unsigned long long)to, (unsigned long long)size);
	if (to - from != t->bytes)
		errx(NS_TROUBLE, "%s: tensor '%s': shape and dtype make %llu "
		    "bytes, data_offsets %llu", path, t->name,
		    (unsigned long long)t->bytes, (unsigned long long)(to - from));
	t->offset = data + from;
}

static int
by_offset(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void
check_cover(const char *path, const struct tensor *t, size_t n, uint64_t at,
    uint64_t end)
{
	for (size_t i = 0; i < n; i++) {
		if (t[i].offset != at)
			errx(NS_TROUBLE, "%s: tensor '%s' %s: it starts at byte "
			    "%llu of the file, %llu was expected", path, t[i].name,
			    t[i].offset < at ? "overlaps another" :
			    "leaves a hole before it",
			    (unsigned long long)t[i].offset,
			    (unsigned long long)at);
		at += t[i].bytes;
	}
	if (at != end)
		errx(NS_TROUBLE, "%s: %llu bytes lie behind the last tensor",
		    path, (unsigned long long)(end - at));
}

static void
parse(const char *path, const char *text, size_t len, size_t file,
    uint64_t data, uint64_t end, struct tensor_list *list)
{
	json_error_t e;
	json_t *root, *j;
	const char *name;
	size_t first = list->n;

	if (*text != '{')
		errx(NS_TROUBLE, "%s: its header does not begin with '{': not "
		    "a safetensors file", path);
	if ((root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e)) == NULL)
		errx(NS_TROUBLE, "%s: header, byte %d: %s", path, 8 + e.position,
		    terminal_safe(e.text));
	json_object_foreach(root, name, j) {
		struct tensor *t;

		if (!is_terminal_safe(name))
			errx(NS_TROUBLE, "%s: a tensor has a control character "
			    "in its name", path);
		if (strcmp(name, "__metadata__") == 0) {
			if (!json_is_object(j) && !json_is_null(j))
				errx(NS_TROUBLE, "%s: __metadata__ is neither "
				    "an object nor null", path);
			continue;
		}
		list->tensor = xgrow(list->tensor, &list->cap, list->n + 1,
		    sizeof *list->tensor);
		t = &list->tensor[list->n++];
		*t = (struct tensor){ .name = xstrdup(name), .file = file };
		read_tensor(path, t, j, data, end - data);
		tensor_role(t);
	}
	json_decref(root);
	if (list->n > first)
		qsort(list->tensor + first, list->n - first,
		    sizeof *list->tensor, by_offset);
	check_cover(path, list->tensor + first, list->n - first, data, end);
}

static uint64_t
header_bytes(const char *path, FILE *fp, uint64_t size)
{
	static const char lfs[] = "version https://git-lfs";
	unsigned char b[sizeof lfs - 1] = { 0 };
	size_t got = fread(b, 1, sizeof b, fp);
	uint64_t n = 0;

	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	if (got == sizeof b && memcmp(b, lfs, sizeof b) == 0)
		errx(NS_TROUBLE, "%s: a Git LFS pointer, not the tensors: run "
		    "'git lfs pull' in its directory", path);
	if (got < 8)
		errx(NS_TROUBLE, "%s: %llu bytes: too short for a safetensors "
		    "file: fetch it again", path, (unsigned long long)size);
	for (int i = 7; i >= 0; i--)
		n = n << 8 | b[i];
	if (n > size - 8)
		errx(NS_TROUBLE, "%s: its header claims %llu bytes, the file "
		    "has %llu: cut short, or not a safetensors file", path,
		    (unsigned long long)n, (unsigned long long)size);
	if (n < 2 || n > HEADER_MAX)
		errx(NS_TROUBLE, "%s: a header of %llu bytes: 2 to %d are read",
		    path, (unsigned long long)n, HEADER_MAX);
	return n;
}

uint64_t
safetensors_read(const char *path, size_t file, struct tensor_list *list,
    uint64_t *fingerprint)
{
	FILE *fp = fopen(path, "rb");
	struct stat st;
	uint64_t size, len;
	char *text;

	if (fp == NULL || fstat(fileno(fp), &st) != 0)
		err(NS_TROUBLE, "%s", path);
	if (!S_ISREG(st.st_mode))
		errx(NS_TROUBLE, "%s: not a regular file", path);
	size = (uint64_t)st.st_size;
	len = header_bytes(path, fp, size);
	text = xalloc(len, 1);
	if (fseek(fp, 8, SEEK_SET) != 0 || fread(text, 1, len, fp) != len)
		err(NS_TROUBLE, "%s", path);
	fclose(fp);
	fnv(fingerprint, text, len);
	parse(path, text, len, file, 8 + len, size, list);
	free(text);
	return size;
}

#ifdef FUZZ
int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/*
 * clang -DFUZZ -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined with the lib
 * makes a fuzzer.  The first two bytes are the data's size, the rest a header.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *in, size_t n)
{
	struct tensor_list list = { 0 };

	if (n > 2 && setjmp(refused) == 0)
		parse("fuzz", (const char *)in + 2, n - 2, 0, n + 6,
		    n + 6 + in[0] + 256u * in[1], &list);
	tensor_list_free(&list);
	return 0;
}
#endif
