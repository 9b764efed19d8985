/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between modelrun and a backend plugin: plain C, so that a
 * plugin and the library may be built by different compilers and link
 * different runtimes. docs/dev/backend-abi.md says what each call promises;
 * this file is the layout. Users of the library do not need it. */
#ifndef MODELRUN_BACKEND_H_
#define MODELRUN_BACKEND_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

/* Compared for equality: a plugin of another number is refused. */
#define MODELRUN_BACKEND_ABI 1

/* The one symbol that a plugin exports, a modelrun_backend_entry. */
#define MODELRUN_BACKEND_ENTRY "modelrun_backend_entry_v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modelrun_backend modelrun_backend;
typedef struct modelrun_session modelrun_session;
typedef struct modelrun_request modelrun_request;

/* What a call returns; the kinds of modelrun::Error. */
typedef enum modelrun_status {
  MODELRUN_OK = 0,
  MODELRUN_INVALID_ARGUMENT = 1,
  MODELRUN_NOT_FOUND = 2,
  MODELRUN_UNSUPPORTED = 3,
  MODELRUN_BACKEND_ERROR = 4
} modelrun_status;

typedef enum modelrun_log_level {
  MODELRUN_LOG_DEBUG = 0,
  MODELRUN_LOG_INFO = 1,
  MODELRUN_LOG_WARNING = 2,
  MODELRUN_LOG_ERROR = 3
} modelrun_log_level;

/* Receives text: an error message, or a description in JSON. The text need
 * not end in a zero and is copied before `write` returns. */
typedef struct modelrun_sink {
  size_t struct_size;
  void* context;
  void (*write)(void* context, const char* text, size_t length);
} modelrun_sink;

/* What the library gives to a plugin. It outlives the backend. */
typedef struct modelrun_host {
  size_t struct_size;
  void* context;
  /* May be called from any thread. */
  void (*log)(void* context, modelrun_log_level level, const char* text,
              size_t length);
  /* The runtime's shared library, found by the library; NULL for a plugin
   * that needs none or links its own. */
  const char* runtime_path;
} modelrun_host;

/* The kinds of port that a request binds and fetches. */
typedef enum modelrun_port_kind {
  MODELRUN_INPUT = 0,
  MODELRUN_OUTPUT = 1,
  /* Kept in the request from one run to the next (a stateful cache). */
  MODELRUN_STATE = 2
} modelrun_port_kind;

/* One input, output or state of a program. */
typedef struct modelrun_port {
  const char* name;
  /* Further names of the same port. */
  const char* const* aliases;
  size_t alias_count;
  DLDataType dtype;
  /* -1 when the program does not say. */
  int32_t rank;
  /* One per axis, -1 for a dynamic one. */
  const int64_t* dims;
  /* One per axis; NULL or a symbol or expression such as "s36 + 1". May be
   * NULL as a whole. */
  const char* const* symbols;
  /* An output that is no tensor but a value of the program: its JSON text,
   * "null", "7", "true". NULL for every other port. Never fetched. */
  const char* constant;
  /* 1 for an output that is no tensor but a number that each run computes, a
   * size for example: it is fetched as a tensor of rank 0. Else 0. */
  int32_t is_number;
} modelrun_port;

/* Owned by the session, constant for its life. */
typedef struct modelrun_signature {
  size_t struct_size;
  size_t port_size; /* sizeof(modelrun_port) in the plugin */
  size_t input_count;
  const modelrun_port* inputs;
  size_t output_count;
  const modelrun_port* outputs;
  size_t state_count;
  const modelrun_port* states;
} modelrun_signature;

/* Every function is required. `error` may be NULL; it is written at most once,
 * and only when the status is not MODELRUN_OK. No exception may leave. */
typedef struct modelrun_backend_table {
  size_t struct_size;
  uint32_t abi;
  /* "onnxruntime" */
  const char* name;
  /* The plugin's own version, "0.1.0". */
  const char* version;

  modelrun_status (*backend_create)(const modelrun_host* host,
                                    modelrun_backend** backend,
                                    const modelrun_sink* error);
  void (*backend_destroy)(modelrun_backend* backend);
  /* Describes the backend (session NULL) or one session of it, as one JSON
   * object: runtime version, devices, formats, option keys; or device,
   * threads, precision, what runs where. */
  modelrun_status (*describe)(modelrun_backend* backend,
                              modelrun_session* session,
                              const modelrun_sink* text,
                              const modelrun_sink* error);

  /* `options` is a JSON object; a key that the plugin does not know is an
   * error that lists those it does. */
  modelrun_status (*session_create)(modelrun_backend* backend,
                                    const char* program_path,
                                    const char* options,
                                    modelrun_session** session,
                                    const modelrun_sink* error);
  void (*session_destroy)(modelrun_session* session);
  const modelrun_signature* (*session_signature)(
      const modelrun_session* session);

  modelrun_status (*request_create)(modelrun_session* session,
                                    modelrun_request** request,
                                    const modelrun_sink* error);
  void (*request_destroy)(modelrun_request* request);
  /* Binds memory to a port until it is bound anew; `tensor` NULL clears it (a
   * state: resets it). The struct is read during the call, the memory during
   * runs. */
  modelrun_status (*request_bind)(modelrun_request* request,
                                  modelrun_port_kind kind, size_t index,
                                  const DLTensor* tensor,
                                  const modelrun_sink* error);
  modelrun_status (*request_run)(modelrun_request* request,
                                 const modelrun_sink* error);
  /* Hands out what the last run wrote to an output that is not bound, or a
   * copy of a state. The caller owns the tensor, through its deleter. */
  modelrun_status (*request_fetch)(modelrun_request* request,
                                   modelrun_port_kind kind, size_t index,
                                   DLManagedTensorVersioned** tensor,
                                   const modelrun_sink* error);
  /* Makes a run in progress on another thread return soon, with an error. */
  void (*request_cancel)(modelrun_request* request);
} modelrun_backend_table;

/* Never NULL; the table lives as long as the plugin is loaded. */
typedef const modelrun_backend_table* (*modelrun_backend_entry)(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MODELRUN_BACKEND_H_ */
