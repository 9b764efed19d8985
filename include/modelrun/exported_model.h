// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelrun/device.h"
#include "modelrun/dtype.h"
#include "modelrun/inspect.h"
#include "modelrun/value.h"

namespace modelrun {

namespace detail {
class BoundRun;
struct ModelState;
}  // namespace detail

/// How an export is opened. What is left out takes the export's own choice.
struct LoadOptions {
  /// A folder below the directory that holds the export.
  std::string subfolder = {};
  /// Picks one of several program files, such as `"model_quantized.onnx"`.
  std::string file_name = {};
  /// The backend that runs it, such as `"onnxruntime"`; the default one of the
  /// export's format when empty.
  std::string backend = {};
  /// Where it runs; the backend's default when unset.
  std::optional<Device> device = {};
  /// Threads within one call; the cores that this process may use when unset.
  std::optional<int> threads = {};
  /// The runtime's library, or a folder that holds it; searched when empty
  /// (see `find_runtime`).
  std::filesystem::path runtime_path = {};
  /// The backend's own options by name; an unknown one is refused with the
  /// list of those it takes.
  std::vector<std::pair<std::string, Scalar>> options = {};
  /// Refuse a call whose kwargs, recorded with one full shape when the model
  /// was traced (`input_ids` and `attention_mask`), differ in shape.
  bool check_recorded_shapes = true;
};

/// How one call treats its memory.
struct CallOptions {
  /// Read the inputs in place, instead of from copies.
  bool share_inputs = true;
  /// Return the backend's own output buffers, instead of memory that is the
  /// outputs' alone. They stay valid for as long as they are held; a later call
  /// reuses buffers that nobody holds any more, and so allocates less.
  bool share_outputs = false;
  /// Ends the run soon after a stop is requested, by a BackendError. A backend
  /// that cannot do so runs to the end.
  std::stop_token stop = {};
};

/// A call whose inputs and outputs stay bound: see `ExportedModel::bind`.
///
/// Move-only. One thread at a time.
class BoundCall {
 public:
  explicit BoundCall(std::unique_ptr<detail::BoundRun> run);
  BoundCall(BoundCall&&) noexcept;
  BoundCall& operator=(BoundCall&&) noexcept;
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;
  ~BoundCall();

  /// Runs on what the bound inputs hold now. The outputs are the same object
  /// every time, overwritten by the next run; an output whose shape depends on
  /// the data is made anew.
  const Outputs& operator()(std::stop_token stop = {});

 private:
  std::unique_ptr<detail::BoundRun> run_;
};

/// An exported model, called like the model that it came from.
///
/// ```
/// auto model = ExportedModel::from_pretrained("path/to/export");
/// Outputs outputs = model({{"input_ids", ids}, {"attention_mask", mask}});
/// Tensor hidden = outputs["last_hidden_state"].tensor();
/// ```
///
/// A handle that is cheap to copy; copies share the loaded programs. Calls are
/// thread-safe: many threads may call one model at the same time. `to` is not:
/// it changes this handle only.
class ExportedModel {
 public:
  /// Opens a directory that `save_pretrained` of transformers' exporters wrote,
  /// an optimum layout, or one program file, and loads its programs.
  ///
  /// Throws NotFound when the directory, a file or the backend's runtime is not
  /// there, InvalidArgument when a file is not what it should be, BackendError
  /// when the runtime cannot load the program. A format that no registered
  /// backend reads loads; calling it throws Unsupported.
  static ExportedModel from_pretrained(const std::filesystem::path& path,
                                       const LoadOptions& options = {});

  /// Runs the model on the source model's kwargs and returns what the source
  /// model returns.
  ///
  /// Kwargs that the export was not traced with are dropped, with one warning.
  /// A kwarg may be a tensor, a nest of tensors (a cache out of an earlier
  /// call), or one leaf of such a nest by its dotted path. Throws
  /// InvalidArgument, before anything runs, when an input is missing, or of
  /// another dtype or shape than the program takes; BackendError when the
  /// runtime fails.
  Outputs operator()(Kwargs kwargs, const CallOptions& options = {}) const;

  /// Checks and binds the kwargs once, for calls that repeat on the same
  /// memory: write new values into the tensors, then run again. The tensors are
  /// kept alive; the shapes cannot change.
  [[nodiscard]] BoundCall bind(Kwargs kwargs) const;

  /// The names of the programs: `{"model"}` for a single-graph export.
  [[nodiscard]] std::vector<std::string> components() const;
  /// One program of the export as a model of its own; throws NotFound.
  [[nodiscard]] ExportedModel component(std::string_view name) const;

  /// `"onnx"`, `"openvino"`, `"dynamo"` or `"executorch"`.
  [[nodiscard]] const std::string& format() const noexcept;
  /// The source model's `config.json` as a dict; `None` when there is none.
  [[nodiscard]] const Value& config() const noexcept;
  /// `generation_config.json` as a dict; `None` when there is none.
  [[nodiscard]] const Value& generation_config() const noexcept;
  /// The precision that the export was traced at. Opens no runtime. Throws
  /// NotFound when nothing records it (a bare program file).
  [[nodiscard]] DType dtype() const;
  /// Where the programs run.
  [[nodiscard]] Device device() const;
  /// The one program: its file, inputs, outputs and structures. Throws
  /// InvalidArgument when there are several components.
  [[nodiscard]] ComponentDescription program() const;
  /// What runs where: for each component a dict with the backend, the runtime's
  /// version and path, device, threads and precision.
  [[nodiscard]] Value report() const;

  /// Loads the programs anew on another device, and returns this handle.
  ExportedModel& to(Device device);

  /// Writes the programs, their weights, the manifest and the configs to a
  /// directory, which is made when it is not there. Each file is written aside
  /// and moved over the one before, so it may be the export's own directory.
  /// Throws NotFound when a file of the export is gone, Error when writing
  /// fails.
  void save_pretrained(const std::filesystem::path& directory) const;

  /// Runs every component once, on zeros of the shapes it was traced with, so
  /// that the first real call pays for no lazy initialization. Throws what a
  /// call throws: where inputs must fit each other in their values (an image
  /// grid and its pixels), call the model once on real ones instead.
  void warmup() const;

 private:
  explicit ExportedModel(std::shared_ptr<const detail::ModelState> state);

  std::shared_ptr<const detail::ModelState> state_;
};

}  // namespace modelrun
