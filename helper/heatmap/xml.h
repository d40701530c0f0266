/* SPDX-License-Identifier: GPL-2.0-only */
/* Escapes text for an XML document. */
#ifndef HELPER_HEATMAP_XML_H
#define HELPER_HEATMAP_XML_H

#include <stdio.h>

void xml_text(FILE *file, const char *text);

#endif /* HELPER_HEATMAP_XML_H */
