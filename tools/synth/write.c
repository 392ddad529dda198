/* write.c: a checkpoint's files in the layout that transformers writes. */
#include <sys/statvfs.h>

#include <err.h>
#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "synth.h"

enum { CHUNK = 1 << 20 };		/* bytes made and written at a time */

/* Which shard each tensor is in, and where in its data. */
struct plan {
	struct tensor_list list;
	size_t	 n_shards;
	uint64_t bytes;
	struct progress progress;
	uint64_t done;
};

static void
put(int fd, const char *path, const void *data, size_t n)
{
	const char *p = data;

	while (n != 0) {
		ssize_t put_now = write(fd, p, n);

		if (put_now <= 0)
			err(NS_TROUBLE, "%s", path);
		p += put_now;
		n -= (size_t)put_now;
	}
}

static int
create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd == -1)
		err(NS_TROUBLE, "%s", path);
	return fd;
}

static void
finish(int fd, const char *path)
{
	if (close(fd) != 0)
		err(NS_TROUBLE, "%s", path);
}

static void
put_text(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = create(path);

	put(fd, path, text, strlen(text));
	finish(fd, path);
	free(path);
}

static void
make_plan(struct plan *p, const struct arch *a, uint64_t shard_bytes)
{
	uint64_t at = 0;

	*p = (struct plan){ 0 };
	arch_tensors(a, &p->list);
	for (size_t i = 0; i < p->list.n; i++) {
		struct tensor *t = &p->list.tensor[i];

		if (at != 0 && t->bytes > shard_bytes - at) {
			p->n_shards++;
			at = 0;
		}
		t->file = p->n_shards;
		t->offset = at;
		at = t->bytes > shard_bytes ? shard_bytes : at + t->bytes;
		if (!add_ok(p->bytes, t->bytes, &p->bytes))
			errx(NS_TROUBLE, "a model of over 2^64 bytes");
	}
	p->n_shards++;
}

static void
check_space(const struct plan *p, const char *dir)
{
	uint64_t need, free_bytes;
	struct statvfs fs;

	if (statvfs(dir, &fs) != 0)
		err(NS_TROUBLE, "%s", dir);
	if (!mul_ok((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, &free_bytes))
		free_bytes = UINT64_MAX;
	/* Names, headers and blocks that are not quite full. */
	need = p->list.n * 512 + p->n_shards * 8192 + 8192;
	if (!add_ok(need, p->bytes, &need) || need > free_bytes)
		errx(NS_TROUBLE, "%s: the checkpoint needs %llu bytes, %llu are "
		    "free: make room, or name a directory elsewhere", dir,
		    (unsigned long long)need, (unsigned long long)free_bytes);
}

static char *
shard_name(const struct plan *p, size_t shard)
{
	if (p->n_shards == 1)
		return xstrdup("model.safetensors");
	return xasprintf("model-%05zu-of-%05zu.safetensors", shard + 1,
	    p->n_shards);
}

/* The header of the tensors from first up to end, padded to 8 bytes. */
static char *
header(const struct plan *p, size_t first, size_t end)
{
	json_t *o = json_pack("{s:{s:s}}", "__metadata__", "format", "pt");
	char *text, *padded;

	for (size_t i = first; i < end; i++) {
		const struct tensor *t = &p->list.tensor[i];
		json_t *shape = json_array();

		for (unsigned d = 0; d < t->n_dims; d++)
			json_array_append_new(shape,
			    json_integer((json_int_t)t->dim[d]));
		if (json_object_set_new(o, t->name, json_pack("{s:s,s:o,s:[I,I]}",
		    "dtype", dtype_name(t->dtype), "shape", shape,
		    "data_offsets", (json_int_t)t->offset,
		    (json_int_t)(t->offset + t->bytes))) != 0)
			errx(NS_TROUBLE, "%s: out of memory", t->name);
	}
	if ((text = json_dumps(o, JSON_COMPACT)) == NULL)
		errx(NS_TROUBLE, "header: out of memory");
	padded = xasprintf("%s%*s", text, (int)(-strlen(text) % 8), "");
	free(text);
	json_decref(o);
	return padded;
}

static void
put_tensor(struct plan *p, int fd, const char *path, const struct tensor *t,
    uint64_t seed, void *buf)
{
	struct fill f;
	size_t most, n;

	fill_start(&f, t, seed);
	most = CHUNK / f.size;
	for (uint64_t at = 0; at < t->n_elements; at += n) {
		n = t->n_elements - at < most ? t->n_elements - at : most;
		fill(&f, buf, at, n);
		put(fd, path, buf, n * f.size);
		p->done += n * f.size;
		progress(&p->progress, p->done);
	}
}

static void
put_shard(struct plan *p, const char *dir, size_t first, size_t end,
    uint64_t seed)
{
	char *name = shard_name(p, p->list.tensor[first].file);
	char *path = xasprintf("%s/%s", dir, name);
	char *head = header(p, first, end);
	uint64_t len = strlen(head);
	void *buf = xalloc(CHUNK, 1);
	int fd = create(path);

	put(fd, path, &len, sizeof len);
	put(fd, path, head, len);
	for (size_t i = first; i < end; i++)
		put_tensor(p, fd, path, &p->list.tensor[i], seed, buf);
	finish(fd, path);
	free(buf);
	free(head);
	free(path);
	free(name);
}

static void
put_index(const struct plan *p, const char *dir)
{
	json_t *map = json_object(), *o;
	char *text;

	for (size_t i = 0; i < p->list.n; i++) {
		char *name = shard_name(p, p->list.tensor[i].file);

		json_object_set_new(map, p->list.tensor[i].name, json_string(name));
		free(name);
	}
	o = json_pack("{s:{s:I},s:o}", "metadata", "total_size",
	    (json_int_t)p->bytes, "weight_map", map);
	if (o == NULL || (text = json_dumps(o, JSON_INDENT(2))) == NULL)
		errx(NS_TROUBLE, "index: out of memory");
	put_text(dir, "model.safetensors.index.json", text);
	free(text);
	json_decref(o);
}

void
synth_write(const struct arch *a, uint64_t shard_bytes, const char *config_text,
    const char *dir)
{
	struct plan p;
	size_t first = 0;

	make_plan(&p, a, shard_bytes);
	check_space(&p, dir);
	put_text(dir, "config.json", config_text);
	progress_start(&p.progress, dir, p.bytes);
	for (size_t i = 1; i <= p.list.n; i++)
		if (i == p.list.n ||
		    p.list.tensor[i].file != p.list.tensor[first].file) {
			put_shard(&p, dir, first, i, a->seed);
			first = i;
		}
	progress_end(&p.progress);
	if (p.n_shards > 1)
		put_index(&p, dir);
	tensor_list_free(&p.list);
}
