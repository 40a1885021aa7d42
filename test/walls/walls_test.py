#!/usr/bin/env python3
"""Each wall falls when it is broken: one small tree a rule, good but for one thing."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import walls  # noqa: E402

HEADER = "// What a thing is, in one sentence.\n#pragma once\n"
ROOMS = "nouns = fleet job\nbase*:\nfleet*:\njob*: fleet\nplan*: nouns\nstore: base | sqlite3\n"


class Walls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("rooms.txt", ROOMS)
        self.write("src/plan/plan.h", HEADER + '#include "fleet/fleet.h"\n#include <vector>\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def offences(self, check, ratchet="", build=None):
        return list(walls.judge(check, self.root, build, ratchet))

    def assert_offends(self, check, rule):
        lines = self.offences(check)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(f"[{rule}]", lines[0])

    def test_a_good_tree_offends_nobody(self):
        self.assertEqual(self.offences("includes"), [])
        self.assertEqual(self.offences("tidy"), [])

    def test_a_room_must_not_include_one_that_its_line_does_not_name(self):
        self.write("src/fleet/fleet.h", HEADER + '#include "job/spec.h"\n')
        self.assert_offends("includes", "include")

    def test_tests_stand_behind_the_same_walls(self):
        self.write("src/fleet/fleet_test.cc", '#include <gtest/gtest.h>\n#include "plan/plan.h"\n')
        self.assert_offends("includes", "include")

    def test_an_include_starts_at_the_room(self):
        self.write("src/plan/plan.cc", '#include "plan.h"\n')
        self.assert_offends("includes", "include")

    def test_a_folder_without_a_line_includes_itself_alone(self):
        self.write("src/shim/main.cc", '#include "shim/wire.h"\n#include "base/id.h"\n')
        self.assert_offends("includes", "include")

    def test_a_library_must_stand_on_the_line(self):
        self.write("src/store/rows.cc", "#include <sqlite3.h>\n#include <unistd.h>\n")
        self.assertEqual(self.offences("includes"), [])
        self.write("src/store/rows.cc", "#include <boost/json.hpp>\n")
        self.assert_offends("includes", "library")

    def test_gtest_is_for_tests(self):
        self.write("src/store/rows.cc", "#include <gtest/gtest.h>\n")
        self.assert_offends("includes", "library")

    def test_pure_rooms_see_no_threads_files_or_unordered_containers(self):
        for name in ("thread", "fstream", "unordered_map", "unistd.h", "sys/stat.h"):
            self.write("src/plan/plan.cc", f"#include <{name}>\n")
            self.assert_offends("includes", "impure-header")
        self.write("src/plan/plan.cc", "")
        self.write("src/plan/plan_test.cc", "#include <fstream>\n")
        self.assertEqual(self.offences("includes"), [])

    def test_rooms_must_not_go_round_in_circles(self):
        self.write("rooms.txt", ROOMS + "one: two\ntwo: one\n")
        self.assert_offends("includes", "cycle")

    def test_a_line_names_rooms_that_exist(self):
        self.write("rooms.txt", ROOMS + "api: nowhere\n")
        self.assert_offends("includes", "unknown-room")

    def test_clocks_files_sockets_threads_and_environment_are_impure(self):
        listing = """
plan.cc.o:
                 U std::chrono::_V2::system_clock::now()
                 U getenv@GLIBC_2.2.5
                 U socket
                 U pthread_create
                 U std::random_device::_M_getval()
                 U std::basic_ifstream<char, std::char_traits<char> >::basic_ifstream()
                 U memcpy
                 U pondage::store::read(int)
                 U operator new(unsigned long)
                 U std::__throw_length_error(char const*)
0000000000000000 T open
"""
        self.assertEqual(len(walls.impure_symbols(listing)), 6, walls.impure_symbols(listing))

    def test_purity_without_archives_is_no_pass(self):
        self.assertEqual(len(self.offences("purity", build=self.root)), 1)

    def test_long_files(self):
        self.write("src/plan/plan.cc", "\n" * 801)
        self.write("src/plan/README.md", "plan\n")
        self.assert_offends("tidy", "length")

    def test_the_step_is_short(self):
        self.write("rooms.txt", ROOMS + "pool*: plan\n")
        self.write("src/pool/step.cc", "\n" * 101)
        self.write("src/pool/README.md", "pool\n")
        self.assert_offends("tidy", "length")

    def test_headers_open_with_a_sentence(self):
        self.write("src/plan/plan.h", "#pragma once\nint x;\n")
        self.assert_offends("tidy", "header")
        self.write("src/plan/plan.h", "// plan stuff\n#pragma once\n")
        self.assert_offends("tidy", "header")
        self.write("src/plan/plan.h", "// A plan.\nint x;\n")
        self.assert_offends("tidy", "header")

    def test_rooms_say_what_they_own(self):
        self.write("src/plan/plan.cc", "")
        self.assert_offends("tidy", "readme")
        self.write("src/plan/README.md", "\n" * 41)
        self.assert_offends("tidy", "readme")

    def test_folders_have_a_line(self):
        self.write("src/extra/x.h", HEADER)
        self.assert_offends("tidy", "room")

    def test_drawers(self):
        self.write("src/plan/util.h", HEADER)
        self.assert_offends("tidy", "drawer")

    def test_todo_needs_a_number(self):
        word = "TO" + "DO"
        self.write("src/plan/plan.h", HEADER + f"// {word}(#12): faster\n")
        self.assertEqual(self.offences("tidy"), [])
        self.write("src/plan/plan.h", HEADER + f"// {word}: faster\n")
        self.assert_offends("tidy", "todo")

    def test_paths_of_one_machine(self):
        self.write("docs/a.md", "see /ro" + "ot/tf/bin\n")
        self.assert_offends("tidy", "forbidden")

    def test_tests_on_disk_are_built(self):
        self.write("src/plan/plan_test.cc", "")
        self.write("src/plan/README.md", "plan\n")
        self.write("build/compile_commands.json", "[]")
        lines = self.offences("tidy", build=self.root / "build")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("[unbuilt-test]", lines[0])

    def test_the_ratchet_forgives_old_offenders_and_shrinks(self):
        self.write("src/plan/util.h", HEADER)
        self.assertEqual(self.offences("tidy", "drawer src/plan/util.h\n"), [])
        lines = self.offences("tidy", "drawer src/plan/util.h\nlength src/plan/plan.h\n")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("no longer offends", lines[0])


if __name__ == "__main__":
    unittest.main()
