#include "api/pager.h"

#include <algorithm>
#include <utility>

namespace pondage::api {

namespace {

constexpr std::size_t kFirstPage = 64;
constexpr std::size_t kMostObjects = 512;
constexpr std::size_t kPageBytes = 1 << 20;

}  // namespace

Pager::Pager(const port::Store& store, port::ListQuery query, Selection selection)
    : store_(&store),
      query_(std::move(query)),
      selection_(std::move(selection)),
      counts_(query_.count && selection_.Empty()) {
  query_.limit = kFirstPage;
  query_.facet = selection_.Facet();
}

base::Result<void> Pager::Begin() {
  query_.count = counts_;
  TRY_DO(ReadPage());
  query_.at = page_.revision;
  query_.count = false;  // all pages are of one revision: the rest is subtraction
  return {};
}

base::Result<void> Pager::ReadPage() {
  const std::size_t before = page_.remaining;
  TRY(page_, store_->List(query_));
  if (counts_ && !query_.count) page_.remaining = before - page_.objects.size();
  next_ = 0;
  if (page_.objects.empty()) return {};
  const port::Key& last = page_.objects.back().key;
  query_.after_space = last.space;
  query_.after_name = last.name;
  // So many of this size fit into the next page.
  std::size_t bytes = 1;
  for (const port::Object& object : page_.objects) bytes += object.body->size();
  query_.limit =
      std::clamp<std::size_t>(kPageBytes * page_.objects.size() / bytes, 1, kMostObjects);
  return {};
}

base::Result<std::optional<port::Object>> Pager::Next() {
  for (;;) {
    if (next_ == page_.objects.size()) {
      if (!page_.more) return std::nullopt;
      TRY_DO(ReadPage());
      continue;
    }
    port::Object object = std::exchange(page_.objects[next_++], {});
    if (selection_.Empty() || selection_.Matches(*object.facets)) return object;
  }
}

}  // namespace pondage::api
