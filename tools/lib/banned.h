/*
 * banned.h: functions that cannot report their own failure.  Use snprintf,
 * parse_int and friends, and the bounded copies instead.
 */
#ifndef BANNED_H
#define BANNED_H

#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi
#pragma GCC poison atol atoll atof gets

#endif
