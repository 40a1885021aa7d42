// What goes by itself: events after their time, finished jobs by their TTL or by the server's
// retention.
#include <algorithm>

#include "loop/turn.h"
#include "manifest/tfjob.h"

namespace pondage::loop {
namespace {

constexpr std::string_view kTfJobs = "tfjobs.kubeflow.org";

int NoPriority(const std::string&) {
  return 0;
}

// Whether it is the server's retention that limits the stay of an ended job.
bool IsKept(const std::string& body) {
  const auto job = manifest::DecodeTfJob(body, NoPriority);
  return job && !job->removed && !job::ExpiresAt(job->spec, job->status);
}

}  // namespace

// When the object goes by itself; none: never.
std::optional<base::Instant> Turner::DueOf(const port::Key& key, const std::string& body) const {
  if (key.kind == "events") return now_ + loop_.settings_.event_ttl;
  if (key.kind != kTfJobs || IsLive(key)) return std::nullopt;
  const auto ended = manifest::DecodeTfJob(body, NoPriority);
  if (!ended || ended->removed) return std::nullopt;
  return ExpiryOf(job::ExpiresAt(ended->spec, ended->status).value_or(base::kNever), ended->status);
}

// Of an ended job: its own TTL, else its place in the line of those that are kept.
base::Instant Turner::ExpiryOf(base::Instant own, const job::Status& status) const {
  if (own != base::kNever) return own;
  return kEndOfTime + base::Millis{status.completion_time.value_or(now_).unix_ms};
}

// An ended job is written or goes: the number of those that are kept follows.
void Turner::CountKept(const port::Key& key, const std::string* before, const std::string* after) {
  if (key.kind != kTfJobs || IsLive(key)) return;
  const bool was_counted = loop_.lost_.erase(key) == 0 && before != nullptr && IsKept(*before);
  kept_more_ += (after != nullptr && IsKept(*after) ? 1 : 0) - (was_counted ? 1 : 0);
}

void Turner::TakeDue() {
  constexpr std::size_t kAtOnce = 100;
  if (loop_.due_ > now_) return;
  looked_for_due_ = true;
  const auto due = loop_.store_.Due({0}, now_, kAtOnce + loop_.set_aside_.size());
  if (!due) return loop_.Complain("see what is due", due.error());
  for (const auto& [at, key] : *due) RemoveDue(at, key);
  Collect();
}

// A few at a time: each takes its Pods along, and clients wait meanwhile.
void Turner::TakeOldest() {
  constexpr std::size_t kAtOnce = 20;
  if (loop_.expiry_ > now_) return;
  looked_for_oldest_ = true;
  const auto kept = loop_.store_.Due(kEndOfTime, base::kNever, kAtOnce + loop_.set_aside_.size());
  if (!kept) return loop_.Complain("see which finished jobs are the oldest", kept.error());
  const Settings& settings = loop_.settings_;
  for (const auto& [at, key] : *kept) {
    const base::Instant completed{(at - kEndOfTime).value};
    const bool is_old = settings.keep_finished && completed + *settings.keep_finished <= now_;
    const bool is_one_too_many =
        settings.keep_finished_count && loop_.kept_ + kept_more_ > *settings.keep_finished_count;
    if (!is_old && !is_one_too_many) break;
    RemoveDue(at, key);
  }
  Collect();
}

void Turner::RemoveDue(base::Instant at, const port::Key& key) {
  if (pending_.IsChanged(key) || loop_.set_aside_.Contains(key)) return;
  const auto present = pending_.Get(key);
  if (!present) {
    if (present.error().kind == base::Kind::kUnavailable) return;  // the turn is void
    loop_.set_aside_.Put(key, {"", SentenceOf(present.error()), {}});
    if (at >= kEndOfTime && loop_.lost_.insert(key).second) --kept_more_;
  } else if (key.kind == kTfJobs) {
    RemoveJob(*present);
  } else {
    Remove(*present, false);
  }
}

// What the turn changed, once it is durable.
void Turner::NoteWhatIsDue() {
  for (const port::Change& change : pending_.batch().changes) {
    if (change.deleted || !change.due) continue;
    if (*change.due < kEndOfTime) {
      loop_.due_ = std::min(loop_.due_, *change.due);
    } else if (const auto age = loop_.settings_.keep_finished) {
      loop_.expiry_ =
          std::min(loop_.expiry_, base::Instant{(*change.due - kEndOfTime).value} + *age);
    }
  }
  loop_.kept_ += kept_more_;
  if (looked_for_due_) loop_.due_ = loop_.FindNextDue();
  if (loop_.KeepsTooMany()) {
    loop_.expiry_ = looked_for_oldest_ && pending_.empty() ? now_ + kRetry : now_;
  } else if (looked_for_oldest_) {
    loop_.expiry_ = loop_.FindNextExpiry();
  }
}

}  // namespace pondage::loop
