// SPDX-License-Identifier: GPL-2.0-only
#include "top/model.h"

#include <stdlib.h>
#include <string.h>

struct top_device *model_device(const struct top_model *model, dev_t number)
{
	size_t i;

	for (i = 0; i < model->devices; i++)
		if (model->device[i].number == number)
			return &model->device[i];
	return NULL;
}

/* Returns the label with @id, or NULL. @id 0 means no label. */
const struct top_label *model_label(const struct top_device *device, uint32_t id)
{
	size_t i;

	for (i = 0; id && i < device->labels; i++)
		if (device->label[i].id == id)
			return &device->label[i];
	return NULL;
}

void model_free(struct top_model *model)
{
	size_t i;

	for (i = 0; i < model->devices; i++) {
		free(model->device[i].label);
		free(model->device[i].stream);
		free(model->device[i].job);
	}
	free(model->device);
	memset(model, 0, sizeof(*model));
}
