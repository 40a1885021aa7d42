// Where the reader of one log is, so that after a break it goes on at the byte behind what it has.
//
// Pure; one thread. The server names an answer's first byte, UID/START/OFFSET, in a header; `from`
// asks for such a place. Rotation may have moved it, so each answer begins anew with its header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pondage::session {

// The time that the server put in front of a line, with the space behind it; empty: none.
std::string_view StampOf(std::string_view line);

class LogPlace {
 public:
  // `stamped`: the server puts a time in front of each line, which is not of the log.
  explicit LogPlace(bool stamped) : stamped_(stamped) {}

  // A new answer begins. How many bytes are gone between what was taken and its first.
  std::int64_t Begin(std::string_view header);
  // What of `bytes` can be shown: all but a stamp that is not whole yet, which would come again.
  std::string Take(std::string_view bytes);
  // The answer came to its end: what was held back.
  std::string Rest();
  // "&from=..." for going on; empty as long as no answer named its place.
  std::string Query() const;

 private:
  bool stamped_;
  bool line_begins_ = true;
  std::string stamp_;   // the first bytes of a line, until they are known to be a stamp or not
  std::string source_;  // UID/START
  std::int64_t next_ = 0;
};

}  // namespace pondage::session
