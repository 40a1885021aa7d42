// One command line, taken apart by the table of commands.
//
// Pure; any thread. What stands behind `--` is kept word for word.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "grammar/command.h"

namespace pondage::grammar {

struct Invocation {
  const Command* command = nullptr;
  std::vector<std::string> words;
  std::vector<std::string> program;  // behind `--`
  std::map<std::string, std::vector<std::string>, std::less<>> flags;

  bool Has(std::string_view flag) const { return flags.contains(flag); }
  std::string Value(std::string_view flag, std::string_view otherwise = "") const;
  std::vector<std::string> Values(std::string_view flag) const;
  base::Result<std::int64_t> Number(std::string_view flag, std::int64_t otherwise,
                                    std::int64_t least, std::int64_t most) const;
  base::Result<std::optional<base::Millis>> Length(std::string_view flag) const;
  base::Result<std::optional<base::Bytes>> Size(std::string_view flag) const;
};

// PND-C002 with a sentence for the person who typed it. `--help` and missing words are no errors
// together.
base::Result<Invocation> ParseLine(const std::vector<std::string>& words);

// PND-C002 when the global flag of that name does not take `value`; an empty one unsets it.
base::Result<void> CheckSetting(std::string_view name, std::string_view value);

}  // namespace pondage::grammar
