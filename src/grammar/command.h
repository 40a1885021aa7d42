// What every subcommand is: its name, words, flags and examples, in both languages. Help pages, man
// pages, completion and the parser are all made from this one table.
//
// Constant data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pondage::grammar {

struct Flag {
  std::string_view name;   // "gpus": typed --gpus
  char letter;             // 'f' for -f; 0: none
  std::string_view value;  // "N"; empty: a switch
  std::string_view english;
  std::string_view chinese;
  bool many = false;         // may be given more than once
  std::string_view choices;  // "table|wide|json": all that is accepted; empty: anything
  int words = 1;             // how many values it takes at once
};

struct Example {
  std::string_view line;
  std::string_view english;
  std::string_view chinese;
};

// What the words of a command are, for completion.
enum class Completes { kNothing, kJobs, kFiles, kVerbs };

struct Command {
  std::string_view name;
  std::string_view words;    // "JOB [flags]"
  std::string_view english;  // one line
  std::string_view chinese;
  std::string_view about_english;  // a paragraph for its page; may be empty
  std::string_view about_chinese;
  std::vector<Flag> flags;
  std::vector<Example> examples;
  std::vector<std::string_view> verbs;  // first word, when it must be one of these
  Completes completes = Completes::kNothing;
  int fewest = 0;  // words
  int most = 0;
  bool takes_program = false;   // `-- CMD...` behind the flags
  std::string_view outputs;     // what its -o takes; empty: it has no -o
  std::string_view first_verb;  // with verbs: what no word means
  std::string_view lists;       // with verbs: those that have -o, as "ls|show"
  std::string_view globals;     // the flags of every command that it takes, "lang|help"; empty: all
};

inline constexpr std::string_view kEveryOutput = "table|wide|json|yaml|csv|name";
inline constexpr std::string_view kPlainOutputs = "table|json|yaml|name";

// What -o takes for these words of the command; empty: it does not.
std::string_view OutputsOf(const Command& command, const std::vector<std::string>& words);

std::span<const Command> Commands();
const Command* FindCommand(std::string_view name);
std::span<const Flag> GlobalFlags();
// Those of one command: its -o takes what the command can print.
std::vector<Flag> GlobalFlagsOf(const Command& command);

bool IsOneOf(std::string_view value, std::string_view choices);  // "a|b|c"

// The parts of the table, by what they are about.
std::vector<Command> JobCommands();
std::vector<Command> PoolCommands();
std::vector<Command> ToolCommands();

}  // namespace pondage::grammar
