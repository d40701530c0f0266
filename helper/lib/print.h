/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints text and JSON with the same calls. A call has a key for JSON and a label for text. Without
 * a key the value appears only in text, without a label only in JSON. print_finish() and
 * print_next() write the JSON. print_next() returns 0, or an exit code after recording an error
 * with fail().
 */
#ifndef HELPER_LIB_PRINT_H
#define HELPER_LIB_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/column_choice.h"

#define PRINT_SCHEMA	1

void print_start(bool json);
bool print_is_json(void);
int print_finish(void);
void print_lines(void);
void print_details(bool on);
void print_choose(const struct column_choice *columns);
int print_next(void);
int print_flush(void);

void print_record(const char *key, const char *title);
void print_list(const char *key);
void print_table(const char *key);
void print_main_table(const char *key);
void print_end(void);

void print_string(const char *key, const char *label, const char *value);
void print_detail(const char *key, const char *label, const char *value);
void print_reason(const char *key, const char *label, const char *message);
void print_number(const char *key, const char *label, uint64_t value);
void print_real(const char *key, const char *label, double value);
void print_bytes(const char *key, const char *label, uint64_t value);
void print_position(const char *key, const char *label, uint64_t value);
void print_nanoseconds(const char *key, const char *label, uint64_t value);
void print_milliseconds(const char *key, const char *label, uint64_t value);
void print_seconds(const char *key, const char *label, uint64_t value);
void print_flag(const char *key, const char *label, bool value);
void print_ratio(const char *key, const char *label, uint64_t part,
		 uint64_t whole);
void print_quantity(const char *key, uint64_t value, const char *unit,
		    const char *help);
void print_word(const char *key, const char *word, const char *help);

#endif /* HELPER_LIB_PRINT_H */
