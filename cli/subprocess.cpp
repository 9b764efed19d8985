// SPDX-License-Identifier: Apache-2.0
#include "cli/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "modelrun/error.h"

extern char** environ;  // POSIX declares it nowhere.

namespace modelrun::cli {
namespace {

[[noreturn]] void fail(const std::string& program, int error) {
  throw BackendError("cannot start " + program + ": " +
                     std::generic_category().message(error));
}

/// Closed at the end, or before it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  void close() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

pid_t start(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, pointers[0], &actions, nullptr,
                                 pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(arguments[0], error);
  return pid;
}

void read_lines(int input,
                const std::function<void(std::string_view)>& on_line) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      on_line(std::string_view(text).substr(0, end));
      text.erase(0, end + 1);
    }
  }
  if (!text.empty()) on_line(text);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments,
                const std::function<void(std::string_view)>& on_line) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(arguments[0], errno);
  const Descriptor input(ends[0]);
  Descriptor output(ends[1]);
  const pid_t pid = start(arguments, output.get());
  output.close();
  read_lines(input.get(), on_line);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail(arguments[0], errno);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace modelrun::cli
