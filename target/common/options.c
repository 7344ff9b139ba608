// SPDX-License-Identifier: MIT
#include "options.h"

enum option_status option_flag(const struct option *option, void *to, const char *text)
{
	(void)option;
	(void)text;
	*(bool *)to = true;
	return OPTION_SET;
}

enum option_status option_text(const struct option *option, void *to, const char *text)
{
	(void)option;
	*(const char **)to = text;
	return OPTION_SET;
}

/* A whole number, `bytes` long: 8, 4, or 1, which is a bool. */
static enum option_status put(const struct option *option, void *to, int64_t value)
{
	if (option->bytes == sizeof(uint64_t))
		*(int64_t *)to = value;
	else if (option->bytes == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)value;
	else
		*(bool *)to = value;
	return OPTION_SET;
}

enum option_status option_whole(const struct option *option, void *to, const char *text)
{
	const bool negative = *text == '-';
	const char *digit = text + negative;
	int64_t value = 0;

	if (!*digit)
		return OPTION_NO_NUMBER;
	for (; *digit; digit++) {
		if (*digit < '0' || *digit > '9' || value > (INT64_MAX - (*digit - '0')) / 10)
			return OPTION_NO_NUMBER;
		value = value * 10 + (*digit - '0');
	}
	value = negative ? -value : value;
	if (value < option->range.whole.least || value > option->range.whole.most)
		return OPTION_NO_NUMBER;
	return put(option, to, value);
}

/* Is the option's name the `length` characters of `name`? */
static bool same(const char *name, const char *word, int length)
{
	for (; length && *name; name++, word++, length--)
		if ((*name == '_' ? '-' : *name) != (*word == '_' ? '-' : *word))
			return false;
	return !length && !*name;
}

enum option_status option_choice(const struct option *option, void *to, const char *text)
{
	int length = 0;

	while (text[length])
		length++;
	for (int64_t one = 0; option->range.names[one]; one++)
		if (same(option->range.names[one], text, length))
			return put(option, to, one);
	return OPTION_NO_CHOICE;
}

enum option_status option_read(const struct option *const *tables, const char *word, const char *next, void *options,
			       struct option_word *read)
{
	const int dashes = word[0] == '-' && word[1] == '-' ? 2 : 0;
	const struct option *one = NULL;

	*read = (struct option_word){ .name = word + dashes };
	while (read->name[read->length] && read->name[read->length] != '=')
		read->length++;
	if (read->name[read->length])
		read->value = read->name + read->length + 1;
	for (; *tables && !read->option; tables++)
		for (one = *tables; one->name && !read->option; one++)
			if (same(one->name, read->name, read->length))
				read->option = one;
	one = read->option;
	if (!one || (!one->value && read->value))
		return OPTION_UNKNOWN;
	if (one->value && !read->value) {
		read->value = next;
		read->took_next = true;
	}
	if (one->value && !read->value)
		return OPTION_WITHOUT_VALUE;
	return one->set(one, (char *)options + one->at, read->value);
}
