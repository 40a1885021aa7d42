// The one catalogue of what Pondage says to people: messages by frozen id, in English and Chinese.
//
// Constant data and pure functions; any thread. An id (`PND-` + letter + three digits) is never
// used twice and never changes its meaning. Invariants, checked by tests:
//   1. Every id used anywhere in src/ has a row, with both languages.
//   2. Both languages of a sentence name the same values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pondage::phrase {

enum class Language { kEnglish, kChinese };

struct Both {
  std::string_view english;
  std::string_view chinese;

  std::string_view In(Language language) const {
    return language == Language::kChinese ? chinese : english;
  }
};

struct Message {
  std::string_view id;
  Both title;     // a few words
  Both sentence;  // template; empty where the sentence is made where the error is found
  Both means;     // the page: what it means and why
  Both todo;      // ... and what to do
  Both next;      // what to type next; may be empty
};

// Values by name. Numbers in decimal; absent and empty are the same.
using Values = std::map<std::string, std::string, std::less<>>;

// All rows, by id.
std::span<const Message> All();

// None: no such id. "Q007" finds "PND-Q007".
const Message* Find(std::string_view id);

// The sentence of the id with its values filled in. Unknown id: empty.
std::string Text(std::string_view id, Language language, const Values& values);

// The page of the id: title, meaning, what to do, what to type. Unknown id: empty.
std::string Page(std::string_view id, Language language);

// The hint of a refusal (`workers=2 gpus=4`) as words to type or to follow. Empty hint: empty.
std::string Hint(std::string_view hint, Language language);

// A state, a heading or another single word that is shown: "running", "QUEUE". A word that the
// table does not know is handed back as it is.
std::string_view Word(std::string_view word, Language language);

// Fills a template:
//   {name}            the value
//   {name:GPU|GPUs}   the value and the noun: the first form when the value is 1
//   {?name}           nothing, but its absence counts for the brackets around it
//   [ ... ]           left out when a value named inside is absent
std::string Fill(std::string_view text, const Values& values);

}  // namespace pondage::phrase
