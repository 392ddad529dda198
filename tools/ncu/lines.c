/* lines.c: a file line by line, of any length up to a limit. */
#include <sys/stat.h>

#include <err.h>

#include "ncu.h"

enum { CHUNK = 1 << 17, LONGEST = 1 << 24 };

void
lines_open(struct lines *l, const char *path)
{
	struct stat st;

	*l = (struct lines){ .fp = stdin, .path = "stdin" };
	if (path != NULL && strcmp(path, "-") != 0) {
		l->path = path;
		if ((l->fp = fopen(path, "r")) == NULL)
			err(NS_TROUBLE, "%s", path);
	}
	setvbuf(l->fp, NULL, _IONBF, 0);
	if (fstat(fileno(l->fp), &st) == 0 && S_ISREG(st.st_mode))
		progress_start(&l->progress, l->path, (uint64_t)st.st_size);
}

static void
fill(struct lines *l)
{
	size_t got;

	if (l->pos != 0)
		memmove(l->buf, l->buf + l->pos, l->len - l->pos);
	l->len -= l->pos;
	l->pos = 0;
	if (l->len > LONGEST)
		errx(NS_TROUBLE, "%s:%llu: a line of more than %d MiB: not ncu's CSV",
		    l->path, (unsigned long long)l->no + 1, LONGEST >> 20);
	l->buf = xgrow(l->buf, &l->cap, l->len + CHUNK, 1);
	got = fread(l->buf + l->len, 1, CHUNK, l->fp);
	if (ferror(l->fp))
		err(NS_TROUBLE, "%s", l->path);
	l->eof = got == 0;
	if (l->no == 0 && l->len == 0)
		talk_sniff(l->path, l->buf, got);
	l->len += got;
	if (l->progress.total != 0)
		progress(&l->progress, l->done += got);
}

/* The next line with its newline, which only the last may lack; NULL at the end. */
const char *
lines_next(struct lines *l, size_t *len)
{
	size_t seen = 0;
	const char *line, *nl;

	if (l->buf == NULL)
		fill(l);
	while ((nl = memchr(l->buf + l->pos + seen, '\n',
	    l->len - l->pos - seen)) == NULL && !l->eof) {
		seen = l->len - l->pos;
		fill(l);
	}
	line = l->buf + l->pos;
	*len = nl != NULL ? (size_t)(nl - line) + 1 : l->len - l->pos;
	l->pos += *len;
	l->no++;
	return *len != 0 ? line : NULL;
}

void
lines_close(struct lines *l)
{
	progress_end(&l->progress);
	if (l->fp != stdin)
		fclose(l->fp);
	free(l->buf);
}
