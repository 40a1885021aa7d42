// All that one run of a subcommand works with: its line, the screen, settings and the server.
//
// One thread. The server is found at the first use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cmd/client.h"
#include "cmd/invocation.h"
#include "cmd/settings.h"
#include "cmd/terminal.h"

namespace pondage::cmd {

class Context {
 public:
  Context(Invocation line, Surroundings around, Settings settings, Screen screen)
      : line_(std::move(line)),
        around_(std::move(around)),
        settings_(std::move(settings)),
        screen_(screen) {}

  const Invocation& line() const { return line_; }
  const Screen& screen() const { return screen_; }
  const Surroundings& around() const { return around_; }
  const Settings& settings() const { return settings_; }

  base::Result<Client*> Server();
  base::Result<std::string> Space();  // the namespace: flag, setting, kubeconfig, "default"

  // The answer, to stdout. A closed pipe ends the program quietly.
  void Print(std::string_view text) const;
  // Progress and warnings, to stderr; nothing under --quiet.
  void Note(std::string_view text) const;
  // Warnings of the server since the last call, to stderr.
  void NoteWarnings();

 private:
  Invocation line_;
  Surroundings around_;
  Settings settings_;
  Screen screen_;
  std::unique_ptr<Client> client_;
};

// The screen by users' rules: flags, settings, environment, streams.
base::Result<Screen> ScreenFor(const Invocation& line, const Settings& settings,
                               const Surroundings& around);

}  // namespace pondage::cmd
