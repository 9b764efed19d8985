// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything but the plugin contract (modelrun/backend.h).
#include "modelrun/backends.h"
#include "modelrun/device.h"
#include "modelrun/dtype.h"
#include "modelrun/embedder.h"
#include "modelrun/error.h"
#include "modelrun/exported_model.h"
#include "modelrun/inspect.h"
#include "modelrun/log.h"
#include "modelrun/shape.h"
#include "modelrun/structure.h"
#include "modelrun/tensor.h"
#include "modelrun/tensor_file.h"
#include "modelrun/tokenizer.h"
#include "modelrun/value.h"
#include "modelrun/version.h"
