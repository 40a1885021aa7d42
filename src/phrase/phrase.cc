#include "phrase/phrase.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

std::vector<Message> Gather() {
  std::vector<Message> all;
  for (const auto rows : {ApiRows(), CommandRows(), EnvironmentRows(), JobRows(), ManifestRows(),
                          NodeRows(), QueueRows(), RunRows(), StoreRows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(all, {}, &Message::id);
  return all;
}

std::string_view ValueOf(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string_view() : std::string_view(found->second);
}

// One placeholder, without its braces. False when its value is absent.
bool FillOne(std::string_view inside, const Values& values, std::string& out) {
  if (inside.starts_with('?')) return !ValueOf(values, inside.substr(1)).empty();
  const std::size_t colon = inside.find(':');
  const std::string_view value = ValueOf(values, inside.substr(0, colon));
  out += value;
  if (colon != std::string_view::npos) {
    const std::string_view nouns = inside.substr(colon + 1);
    const std::size_t bar = nouns.find('|');
    out += ' ';
    out += value == "1" || bar == std::string_view::npos ? nouns.substr(0, bar)
                                                         : nouns.substr(bar + 1);
  }
  return !value.empty();
}

// Fills a stretch without brackets. False when a value is absent.
bool FillFlat(std::string_view text, const Values& values, std::string& out) {
  bool whole = true;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    whole &= FillOne(text.substr(open + 1, close - open - 1), values, out);
    text.remove_prefix(close + 1);
  }
  return whole;
}

}  // namespace

std::span<const Message> All() {
  static const std::vector<Message> kAll = Gather();
  return kAll;
}

const Message* Find(std::string_view id) {
  const std::string full = id.starts_with("PND-") ? std::string(id) : "PND-" + std::string(id);
  const auto found = std::ranges::lower_bound(All(), full, {}, &Message::id);
  return found == All().end() || found->id != full ? nullptr : &*found;
}

std::string Text(std::string_view id, Language language, const Values& values) {
  const Message* message = Find(id);
  return message == nullptr ? std::string() : Fill(message->sentence.In(language), values);
}

std::string Page(std::string_view id, Language language) {
  const Message* message = Find(id);
  if (message == nullptr) return {};
  std::string page = std::string(message->id) + "  " + std::string(message->title.In(language));
  for (const Both* part : {&message->means, &message->todo}) {
    if (const std::string_view text = part->In(language); !text.empty()) {
      page += "\n\n" + std::string(text);
    }
  }
  if (const std::string_view next = message->next.In(language); !next.empty()) {
    page += "\n\n  " + std::string(next);
  }
  return page + "\n";
}

std::string Fill(std::string_view text, const Values& values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    FillFlat(text.substr(0, open), values, out);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) break;
    std::string optional;
    if (FillFlat(text.substr(open + 1, close - open - 1), values, optional)) out += optional;
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace pondage::phrase
