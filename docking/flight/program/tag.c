// SPDX-License-Identifier: MIT
/* The key, and what it is for. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "world.h"

enum { KEY_LEAST = 16, KEY_MOST = 64 };

void tag_of(void *argument, const uint8_t *data, size_t octets, uint8_t tag[PUS_TAG])
{
	const struct world *world = argument;
	uint8_t whole[SHA256_OCTETS];

	hmac_tag(&world->hmac, data, octets, whole);
	memcpy(tag, whole, PUS_TAG);
}

void tag_ready(struct world *world)
{
	const char *path = world->options.key;
	uint8_t key[KEY_MOST + 1];
	long long bytes;
	int fd;

	if (!path)
		return;
	fd = open_file("--key=", path, &bytes);
	if (bytes < KEY_LEAST || bytes > KEY_MOST || read(fd, key, sizeof(key)) != bytes)
		die(BAD_INPUT, "--key=%s: a key has %d to %d octets", path, KEY_LEAST, KEY_MOST);
	close(fd);
	hmac_key(&world->hmac, key, (size_t)bytes);
	explicit_bzero(key, sizeof(key));
}
