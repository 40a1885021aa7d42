#include "shim/wire.h"

#include <charconv>
#include <utility>

namespace pondage::shim {
namespace {

constexpr std::size_t kRecords = 200'000;
constexpr std::size_t kKeyLength = 32;

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

class Writer {
 public:
  explicit Writer(std::string_view kind) {
    bytes_ = "pondage-";
    bytes_ += kind;
    bytes_ += ' ';
    bytes_ += std::to_string(kProtocol);
    bytes_ += '\n';
  }

  void operator()(std::string_view key, const std::string& value) { Put(key, value); }
  void operator()(std::string_view key, std::int64_t value) { Put(key, std::to_string(value)); }
  void operator()(std::string_view key, bool value) { Put(key, value ? "1" : "0"); }
  void operator()(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) (*this)(key, *value);
  }
  void operator()(std::string_view key, const ExecEnded& value) { Put(key, Encode(value)); }
  void operator()(std::string_view key, const std::optional<Ended>& value) {
    if (value) Put(key, Encode(*value));
  }
  void operator()(std::string_view key, const std::optional<Exec>& value) {
    if (value) Put(key, Encode(*value));
  }
  template <class T>
  void operator()(std::string_view key, const std::vector<T>& values) {
    for (const T& value : values) (*this)(key, value);
  }

  std::string Take() {
    Put("end", "");
    return std::move(bytes_);
  }

 private:
  void Put(std::string_view key, std::string_view value) {
    bytes_ += key;
    bytes_ += ' ';
    bytes_ += std::to_string(value.size());
    bytes_ += ' ';
    bytes_ += value;
    bytes_ += '\n';
  }

  std::string bytes_;
};

// Cuts bytes into records once; then each field looks up its own.
class Reader {
 public:
  Reader(std::string_view kind, std::string_view bytes) {
    ok_ = Heading(kind, bytes) && Cut(bytes);
  }

  bool ok() const { return ok_; }

  void operator()(std::string_view key, std::string& value) {
    if (const auto* found = Find(key)) value = *found;
  }
  void operator()(std::string_view key, std::int64_t& value) {
    if (const auto* found = Find(key)) Take(*found, value);
  }
  void operator()(std::string_view key, bool& value) {
    std::int64_t number = value ? 1 : 0;
    (*this)(key, number);
    if (number != 0 && number != 1) ok_ = false;
    value = number == 1;
  }
  void operator()(std::string_view key, std::optional<std::int64_t>& value) {
    if (const auto* found = Find(key)) Take(*found, value.emplace());
  }
  void operator()(std::string_view key, std::optional<Ended>& value) {
    const auto* found = Find(key);
    if (found == nullptr) return;
    value = DecodeEnded(*found);
    if (!value) ok_ = false;
  }
  void operator()(std::string_view key, std::optional<Exec>& value) {
    const auto* found = Find(key);
    if (found == nullptr) return;
    value = DecodeExec(*found);
    if (!value) ok_ = false;
  }
  void operator()(std::string_view key, std::vector<ExecEnded>& values) {
    for (const auto& [name, value] : records_) {
      if (name != key) continue;
      auto ended = DecodeExecEnded(value);
      if (!ended) ok_ = false;
      if (ended) values.push_back(*std::move(ended));
    }
  }
  void operator()(std::string_view key, std::vector<std::string>& values) {
    for (const auto& [name, value] : records_) {
      if (name == key) values.emplace_back(value);
    }
  }
  void operator()(std::string_view key, std::vector<std::int64_t>& values) {
    for (const auto& [name, value] : records_) {
      if (name == key) Take(value, values.emplace_back());
    }
  }

 private:
  static bool Heading(std::string_view kind, std::string_view& bytes) {
    const std::size_t line = bytes.find('\n');
    if (line == std::string_view::npos) return false;
    const std::string_view heading = bytes.substr(0, line);
    bytes.remove_prefix(line + 1);
    const std::string wanted = "pondage-" + std::string(kind) + " " + std::to_string(kProtocol);
    return heading == wanted;
  }

  bool Cut(std::string_view bytes) {
    while (records_.size() < kRecords) {
      const std::size_t space = bytes.substr(0, kKeyLength + 1).find(' ');
      if (space == std::string_view::npos || space == 0) return false;
      const std::string_view key = bytes.substr(0, space);
      bytes.remove_prefix(space + 1);

      const std::size_t second = bytes.substr(0, 10).find(' ');
      if (second == std::string_view::npos) return false;
      const auto length = Number(bytes.substr(0, second));
      bytes.remove_prefix(second + 1);
      if (!length || *length < 0 || static_cast<std::size_t>(*length) >= bytes.size()) return false;

      const std::string_view value = bytes.substr(0, static_cast<std::size_t>(*length));
      if (bytes[value.size()] != '\n') return false;
      bytes.remove_prefix(value.size() + 1);
      if (key == "end") return bytes.empty() && value.empty();
      records_.emplace_back(key, value);
    }
    return false;
  }

  const std::string_view* Find(std::string_view key) const {
    for (const auto& [name, value] : records_) {
      if (name == key) return &value;
    }
    return nullptr;
  }

  void Take(std::string_view text, std::int64_t& value) {
    if (const auto number = Number(text)) {
      value = *number;
    } else {
      ok_ = false;
    }
  }

  bool ok_ = false;
  std::vector<std::pair<std::string_view, std::string_view>> records_;
};

// Each list of fields stands once and serves both directions.
template <class Visitor, class T>
void SpecFields(Visitor& visit, T& spec) {
  visit("uid", spec.uid);
  visit("start", spec.start);
  visit("argv", spec.argv);
  visit("env", spec.env);
  visit("working-dir", spec.working_dir);
  visit("user", spec.user);
  visit("group", spec.group);
  visit("groups", spec.groups);
  visit("no-new-privileges", spec.no_new_privileges);
  visit("log-cap-bytes", spec.log_cap_bytes);
  visit("module-socket", spec.module_socket);
  visit("agent-socket", spec.agent_socket);
  visit("cgroup", spec.cgroups);
  visit("oom-file", spec.oom_file);
  visit("kill-file", spec.kill_file);
  visit("freezer", spec.freezer);
  visit("term-grace-ms", spec.term_grace_ms);
  visit("boot-id", spec.boot_id);
  visit("written-unix-ms", spec.written_unix_ms);
  visit("checkpoint-dir", spec.checkpoint_dir);
  visit("expected-file", spec.expected_files);
  visit("mount", spec.mounts);
}

template <class Visitor, class T>
void EndedFields(Visitor& visit, T& ended) {
  visit("uid", ended.uid);
  visit("start", ended.start);
  visit("pid", ended.pid);
  visit("started-unix-ms", ended.started_unix_ms);
  visit("code", ended.code);
  visit("reason", ended.reason);
  visit("message", ended.message);
  visit("id", ended.id);
  visit("at-unix-ms", ended.at_unix_ms);
  visit("at-boottime-ms", ended.at_boottime_ms);
  visit("boot-id", ended.boot_id);
  visit("wall-ms", ended.wall_ms);
  visit("cpu-ms", ended.cpu_ms);
  visit("max-rss-bytes", ended.max_rss_bytes);
}

template <class Visitor, class T>
void ExecEndedFields(Visitor& visit, T& ended) {
  visit("id", ended.id);
  visit("code", ended.code);
  visit("message", ended.message);
}

template <class Visitor, class T>
void ExecFields(Visitor& visit, T& exec) {
  visit("id", exec.id);
  visit("argv", exec.argv);
  visit("terminal", exec.terminal);
}

template <class Visitor, class T>
void StateFields(Visitor& visit, T& state) {
  visit("uid", state.uid);
  visit("start", state.start);
  visit("shim-pid", state.shim_pid);
  visit("pid", state.pid);
  visit("started-unix-ms", state.started_unix_ms);
  visit("hello", state.said.hello);
  visit("step", state.said.step);
  visit("checkpoint-step", state.said.checkpoint_step);
  visit("checkpoint-path", state.said.checkpoint_path);
  visit("input-wait-permille", state.said.input_wait_permille);
  visit("said-unix-ms", state.said_unix_ms);
  visit("ended", state.ended);
  visit("level", state.level);
  visit("exec-ended", state.execs_ended);
}

template <class Visitor, class T>
void CommandFields(Visitor& visit, T& command) {
  visit("stop-grace-ms", command.stop_grace_ms);
  visit("kill", command.kill);
  visit("exec", command.exec);
  visit("release", command.release);
}

// Text that may be shown on a terminal: no control characters.
bool IsShowable(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  return true;
}

// Takes the next word off `line`.
std::string_view Word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

std::optional<std::int64_t> Count(std::string_view text) {
  const auto number = Number(text);
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

std::string Encode(const Spec& spec) {
  Writer writer("spec");
  SpecFields(writer, spec);
  return writer.Take();
}

std::string Encode(const Ended& ended) {
  Writer writer("exit");
  EndedFields(writer, ended);
  return writer.Take();
}

std::string Encode(const ExecEnded& ended) {
  Writer writer("exec-ended");
  ExecEndedFields(writer, ended);
  return writer.Take();
}

std::string Encode(const Exec& exec) {
  Writer writer("exec");
  ExecFields(writer, exec);
  return writer.Take();
}

std::string Encode(const State& state) {
  Writer writer("state");
  StateFields(writer, state);
  return writer.Take();
}

std::string Encode(const Command& command) {
  Writer writer("command");
  CommandFields(writer, command);
  return writer.Take();
}

std::optional<Spec> DecodeSpec(std::string_view bytes) {
  Reader reader("spec", bytes);
  Spec spec;
  if (reader.ok()) SpecFields(reader, spec);
  if (!reader.ok() || spec.uid.empty() || spec.argv.empty()) return std::nullopt;
  return spec;
}

std::optional<Ended> DecodeEnded(std::string_view bytes) {
  Reader reader("exit", bytes);
  Ended ended;
  if (reader.ok()) EndedFields(reader, ended);
  if (!reader.ok() || ended.uid.empty()) return std::nullopt;
  return ended;
}

std::optional<ExecEnded> DecodeExecEnded(std::string_view bytes) {
  Reader reader("exec-ended", bytes);
  ExecEnded ended;
  if (reader.ok()) ExecEndedFields(reader, ended);
  if (!reader.ok()) return std::nullopt;
  return ended;
}

std::optional<Exec> DecodeExec(std::string_view bytes) {
  Reader reader("exec", bytes);
  Exec exec;
  if (reader.ok()) ExecFields(reader, exec);
  if (!reader.ok() || exec.argv.empty()) return std::nullopt;
  return exec;
}

std::optional<State> DecodeState(std::string_view bytes) {
  Reader reader("state", bytes);
  State state;
  if (reader.ok()) StateFields(reader, state);
  if (!reader.ok() || state.uid.empty()) return std::nullopt;
  return state;
}

std::optional<Command> DecodeCommand(std::string_view bytes) {
  Reader reader("command", bytes);
  Command command;
  if (reader.ok()) CommandFields(reader, command);
  if (!reader.ok()) return std::nullopt;
  if (command.stop_grace_ms && *command.stop_grace_ms < 0) return std::nullopt;
  return command;
}

bool TakeModuleMessage(std::string_view line, Said& said) {
  if (line.size() > kModuleMessageLimit) return false;
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (!IsShowable(line) || Word(line) != "1") return false;
  const std::string_view verb = Word(line);
  if (verb == "hello" && line.empty()) {
    said.hello = true;
    return true;
  }
  const auto number = Count(Word(line));
  if (!number) return false;
  if (verb == "step" && line.empty()) {
    said.step = *number;
  } else if (verb == "input-wait" && line.empty() && *number <= 1000) {
    said.input_wait_permille = *number;
    return true;  // also said by who saves in his own way
  } else if (verb == "checkpoint") {
    said.checkpoint_step = *number;
    said.checkpoint_path = line;
  } else {
    return false;
  }
  said.hello = true;  // its greeting may have been lost: it is there
  return true;
}

}  // namespace pondage::shim
