/*
 * cpu: one stage of a pipe, and what it took.
 *
 *	cpu FILE COMMAND...	adds "0.263 3276" to FILE: CPU seconds, peak KiB
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <err.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	struct rusage u;
	int status;
	FILE *fp;
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: cpu FILE COMMAND...");
	if ((pid = fork()) == 0) {
		execvp(argv[2], argv + 2);
		err(2, "%s", argv[2]);
	}
	close(0);
	close(1);
	if (pid == -1 || wait4(pid, &status, 0, &u) == -1)
		err(2, "%s", argv[2]);
	if ((fp = fopen(argv[1], "a")) == NULL)
		err(2, "%s", argv[1]);
	fprintf(fp, "%.3f %ld\n", (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec), u.ru_maxrss);
	return fclose(fp) != 0 || status != 0 ? 2 : 0;
}
