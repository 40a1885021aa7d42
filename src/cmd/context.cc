#include "cmd/context.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "grammar/help.h"
#include "terminal/document.h"
#include "terminal/output.h"
#include "terminal/stream.h"

namespace pondage::cmd {
namespace {

terminal::Format FormatOf(std::string_view name) {
  if (name == "wide") return terminal::Format::kWide;
  if (name == "json") return terminal::Format::kJson;
  if (name == "yaml") return terminal::Format::kYaml;
  if (name == "csv") return terminal::Format::kCsv;
  if (name == "name") return terminal::Format::kName;
  return terminal::Format::kTable;
}

}  // namespace

base::Result<client::Client*> Context::Server() {
  if (client_ != nullptr) return client_.get();
  client::WhereFlags where{line_.Value("server"), line_.Value("kubeconfig")};
  if (where.server.empty() && where.kubeconfig.empty() &&
      around_.Variable("PONDAGE_SERVER").empty()) {
    where.server = settings_.Value("server");
    where.kubeconfig = settings_.Value("kubeconfig");
  }
  TRY(client::ServerPlace place, client::FindServer(where, around_, client::ReadWholeFile));
  auto timeout = std::chrono::milliseconds(30'000);
  TRY(const auto asked, line_.Length("timeout"));
  if (asked && asked->value > 0) {
    timeout = std::min(timeout, std::chrono::milliseconds(asked->value));
  }
  client_ = std::make_unique<client::Client>(std::move(place), timeout);
  if (screen_.verbose) {
    client_->Tell([](const std::string& method, const std::string& target, int status,
                     std::chrono::milliseconds took) {
      terminal::Tell(fmt::format("{} {} {} {} ms\n", method, target,
                                 status == 0 ? "-" : std::to_string(status), took.count()));
    });
  }
  return client_.get();
}

base::Result<std::string> Context::Space() {
  if (line_.Has("namespace")) return line_.Value("namespace");
  if (std::string space = settings_.Value("namespace"); !space.empty()) return space;
  TRY(const client::Client* client, Server());
  return client->place().space.empty() ? std::string("default") : client->place().space;
}

base::Error Context::Misused() const {
  return {base::Kind::kInvalid, "PND-C002", "", "write: " + grammar::UsageLine(*line_.command)};
}

void Context::Print(std::string_view text) const {
  terminal::Print(text);
}

void Context::PrintMade(const std::string& space, const std::string& name) const {
  const json::object made{{"name", name}, {"namespace", space}};
  Print(screen_.format == terminal::Format::kJson   ? terminal::RenderLine(made)
        : screen_.format == terminal::Format::kYaml ? terminal::ToYaml(made)
                                                    : name + "\n");
}

void Context::Note(std::string_view text) const {
  terminal::Note(screen_, text);
}

void Context::Warn(std::string_view text) const {
  Note(screen_.Err(terminal::Tint::kYellow, screen_.Pick("warning", "警告")) + ": " +
       terminal::Plain(text) + "\n");
}

void Context::NoteWarnings() {
  if (client_ == nullptr) return;
  for (const std::string& text : client_->TakeWarnings()) Warn(text);
}

std::string LoginName() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? std::to_string(geteuid()) : std::string(entry->pw_name);
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

base::Result<terminal::Screen> ScreenFor(const grammar::Invocation& line,
                                         const client::Settings& settings,
                                         const terminal::Surroundings& around) {
  terminal::Screen screen;
  const std::string colour = line.Value("color", settings.Value("color"));
  screen.out_is_terminal = around.out_is_terminal;
  screen.err_is_terminal = around.err_is_terminal;
  screen.in_is_terminal = around.in_is_terminal;
  screen.colour_out = terminal::WantsColour(colour, around, around.out_is_terminal);
  screen.colour_err = terminal::WantsColour(colour, around, around.err_is_terminal);
  screen.ascii = line.Has("ascii") || !terminal::IsUtf8(around);
  screen.columns = around.columns;
  screen.language = terminal::LanguageOf(line.Value("lang", settings.Value("lang")), around);
  // Chinese cannot be written in a character set that has none.
  if (!terminal::IsUtf8(around) && !line.Has("lang"))
    screen.language = terminal::Language::kEnglish;
  const std::string usual = settings.Value("output");
  const bool has_it = line.command != nullptr &&
                      grammar::IsOneOf(usual, grammar::OutputsOf(*line.command, line.words));
  screen.format = FormatOf(line.Value("output", has_it ? usual : ""));
  screen.header = !line.Has("no-header");
  screen.quiet = line.Has("quiet");
  screen.verbose = line.Has("verbose");
  return screen;
}

}  // namespace pondage::cmd
