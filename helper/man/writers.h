/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of texts that are written from tables, on stdout. */
#ifndef HELPER_MAN_WRITERS_H
#define HELPER_MAN_WRITERS_H

/* nearcache.8 */
void page_version(void);
void page_verbs(void);
void page_options(void);
void page_codes(void);
void page_fields(void);
void page_counters(void);

/* bash */
void bash_verbs(void);
void bash_names(void);
void bash_settings(void);

/* zsh */
void zsh_verbs(void);
void zsh_names(void);
void zsh_settings(void);

#endif /* HELPER_MAN_WRITERS_H */
