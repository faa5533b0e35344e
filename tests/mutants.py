"""The close of make mutants: the mutants that no test killed, each with the reason it may live; fails below 95 %.

A reason is written once for a function and a pattern of the line that the mutant made, see JUDGED. A survivor without
one comes last: write the test that kills it, or the reason.
"""

import ast
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REQUIRED = 0.95
KILLED = {1, 3, 24, 36, 152, 255}  # a failed test, an error of the run, a time-out, a signal: all notice the mutant
FOLDER = Path("mutants/adanet_theory")


def survivors(counts: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Function, line and mutated line; mutmut leaves one .meta file per module, with the exit code for each mutant."""
    for path in sorted(FOLDER.glob("*.py.meta")):
        module = path.name.removesuffix(".py.meta")
        bodies = functions(FOLDER / f"{module}.py")
        for key, code in json.loads(path.read_text())["exit_code_by_key"].items():
            if code is None:  # mutmut was asked for some of them alone
                counts["not run"] += 1
                continue
            counts["all"] += 1
            if code in KILLED or code < 0:
                counts["killed"] += 1
                continue
            mutant = max((name for name in bodies if key.endswith(name)), key=len)
            name = re.sub(r"__mutmut_\d+$", "", mutant)
            before, after = changed(bodies[f"{name}__mutmut_orig"], bodies[mutant])
            yield f"{module}.{name.removeprefix('x_')}", before, after


def functions(path: Path) -> dict[str, list[str]]:
    """The lines of every function, without its name; mutmut writes each mutant as a function of its own."""
    text = path.read_text()
    lines = text.splitlines()
    functions_of = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return {
        node.name: [line.replace(node.name, "") for line in lines[node.lineno - 1 : node.end_lineno]]
        for node in functions_of
    }


def changed(before: list[str], after: list[str]) -> tuple[str, str]:
    lines = [line for line in difflib.unified_diff(before, after, n=0, lineterm="") if line[:3] not in ("---", "+++")]
    return tuple(" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")  # type: ignore[return-value]


def reason(function: str, after: str) -> str | None:
    for where, piece, why in JUDGED:
        if re.fullmatch(where, function) and re.search(piece, after):
            return why
    return None


def main() -> int:
    counts: Counter[str] = Counter()
    judged: dict[str | None, list[str]] = {}
    for function, before, after in survivors(counts):
        judged.setdefault(reason(function, after), []).append(f"  {function}\n    - {before}\n    + {after}")
    unjudged = judged.pop(None, [])
    for why, each in judged.items():
        print(f"{why} ({len(each)})", *each, sep="\n")
    print(f"no reason yet ({len(unjudged)})", *unjudged, sep="\n")
    share = counts["killed"] / max(counts["all"], 1)
    print(f"{counts['killed']} of {counts['all']} mutants killed: {share:.1%} (at least {REQUIRED:.0%} asked)")
    if counts["not run"]:
        print(f"{counts['not run']} were not run")
    return int(share < REQUIRED)


SAME = "the same value: "
FORMULAS = SAME + "two formulas that agree where one takes over from the other"
BLOCK = "the size of a block"
ROUNDING = "the constant of a bound on rounding errors, which has room"
SEARCH = "what a search tries: the setting that it finds is evaluated, and paid for, as any other"
WINDOW = "the window of a law, which has room"
TIE = "a tie, or the edge of a tolerance"
DOUBLE = SAME + "what is read there is double already"

JUDGED = [
    # a pattern of the function, one of the mutated line, the reason
    (r".*", r"zip\((?!.*strict=True)", SAME + "the lists are as long as one another, which is checked before"),
    (r"spec\._(elu|leaky_relu|sigmoid)|arrangement\.homogeneous", r"np\.where", SAME + "both branches agree at 0"),
    (r"spec\.total", r"None", SAME + "the name is written again where the error is caught"),
    (r"rademacher\..*", r"range\(k\)", SAME + "Λ_{k,0} = 0 for k > 1"),
    (r"posterior\.path_norm", r"range\(", SAME + "there is no weight of such an index"),
    (r"generalization\.corollary_1", r"range\(1, spec\.depth \+ 2\)", SAME + "there is no w of such an index"),
    (r"rademacher\._check_lower_layers", r"R_S\[s - 2\]", SAME + "the same entries in another order"),
    (r"rademacher\.(mean_absolute_sign_sum|first_layer_closed)", r"if .*<", FORMULAS),
    (r"rademacher\.mean_absolute_sign_sum", r"193", "far below an ulp"),
    (r"rademacher\._weighted_sum", r"None", SAME + "the sum, which overflows with its largest part, has the name"),
    (r"generalization\.confidence_term", r"radicand > 0", "a radicand of exactly 0 is no value that floats give"),
    (r"generalization\.theorem_1_range", r"bound\.total > replaced\.total", "a tie of two sums of floats"),
    (r"generalization\._mean", r"total\(", SAME + "a mean of finite values does not overflow, and 0 adds nothing"),
    (r"generalization\.margin_bound_uniform", r"check_mixture", SAME + "margin_bound_uniform_at checks again"),
    (r"posterior\.a_posteriori_data_at", r"_check\(.*, 2,", SAME + "n_0 is not read, only found large enough"),
    (
        r"posterior\.a_posteriori(_bounded|_data)?_at",
        r"growth\(",
        SAME + "an overflow was met before, in the complexity",
    ),
    (r"solve\.smallest_m", r"high // 3", "a bisection that starts from a wider interval"),
    (r"margin\.best_margin", r"701|\[1\.0, 0\.0\]|\[0\.0, 1\.0\]|, 1\), reach|last \+ 2|first \+ 1, -r", "tries more"),
    (
        r"margin\.best_margin",
        r"j > 0|j >= 1|- errors|> best|<= 1|or 1\.0|ramp [-+] \(candidate",
        "tries more, or stops at a tie",
    ),
    (r"margin\.best_margin", r"0\.0\), 2\.0\)", SAME + "a ramp above 1 would be an error of rounding"),
    # estimates
    (r"estimates\.sampled_linear_complexity", r"sums -=", SAME + "-σ has the law of σ and the same norm"),
    (r"estimates\.sampled_linear_complexity", r"matmul", "memory used again, for speed"),
    (r"estimates\.linear_complexity", r"half = |high = |row - low", SAME + "the same signs in another order"),
    (r"estimates\.(sampled_hidden_complexity|_sign_buffer)", r"65", BLOCK),
    (r"estimates\._draw_signs", r"integers\((1, )?2\*\*64|copy=|\"<u8\", \)", "a copy, or 1 word in 2^64"),
    (r"estimates\._draw_signs", r"take\((?!.*\"clip\")", "what take does outside 0..255, where no byte is"),
    (
        r"estimates\._signed_blocks",
        r"buffers = |max_workers|<= len|number - 1 <",
        "memory, or a thread that has nothing to do",
    ),
    (
        r"estimates\._may_be_flat",
        r"",
        "decides whether the second form of v is computed: v is the lesser of two bounds",
    ),
    (r"estimates\._largest_energy", r"n_0 < m|blocks\), \)", SAME + "either Gram matrix, and 0 added to the first"),
    (r"estimates\._largest_energy", r"EPS", ROUNDING),
    (r"estimates\._sampled", r"or 2\.0", SAME + "all values are 0 there"),
    (r"estimates\._rounding", r"EPS", ROUNDING),
    # the supremum over a unit
    (r"unit_supremum\.(_rounding|on_a_line)", r"EPS", ROUNDING),
    (r"unit_supremum\.on_a_line", r"array_split", BLOCK),
    (r"unit_supremum\.unit_supremum", r"S = np\.asarray", SAME + "signs of any type become doubles in the products"),
    (r"unit_supremum\.(by_milp|_solve)", r"/ (row|sigma)|sigma / ", SAME + "σ = ±1 is its own inverse"),
    (r"unit_supremum\._solve", r">= 0", SAME + "b = a goes another way"),
    (r"unit_supremum\.by_milp", r"scale = ", "a program in other units: 0 has any"),
    (r"unit_supremum\.by_milp", r"slack = ", "the tolerances of the solver, larger or smaller by a factor"),
    (r"unit_supremum\.matrix", r"XXfiubXX", "letters that no dtype has"),
    (r"unit_supremum\.matrix", r"dtype in|astype\(None\)", SAME + "what reads Ψ turns it to doubles again"),
    # arrangements
    (r"arrangement\.by_sectors", r"extra = ", SAME + "a line where there need be none, or a longer ray"),
    (r"arrangement\.by_sectors", r"U\[\(", SAME + "the length or the sign of a ray that stands for its line"),
    (r"arrangement\.by_sectors", r"argsort", SAME + "the order of equal angles"),
    (r"arrangement\.by_sectors", r"rises = .*>= 0", SAME + "only where the point is 0"),
    (r"arrangement\.(by_sectors|by_vertices)", r"rows = |step = ", BLOCK),
    (r"arrangement\.candidate_vertices", r"4097|full_matrices|\], \)", BLOCK + ", or a default"),
    (r"arrangement\.candidate_vertices", r"out=None", "what a point 0 leaves in memory: any hyperplane is feasible"),
    (r"arrangement\._around", r"<= p|p <=", SAME + "at p = 1 and inf the lines alone suffice"),
    (r"arrangement\._inside", r"largest|> 0, norms", "scaling, and a maximum on a line, which the lines give as well"),
    (r"norms\.norms", r"np\.all|\.\.\.J", SAME + "the scaled form, which the other only makes faster"),
    (r"arrangement\._ball_normals", r"- sign", SAME + "the same normals in another order"),
    (r"arrangement\.by_cells", r">=", SAME + "points on the flat are 0, and a tie changes nothing"),
    (r"arrangement\._coordinates_on_flat", r"", SAME + "another length of the normals of the same hyperplanes"),
    (r"arrangement\.(cells|_is_among)", r"", "another point of the same cell, or a tolerance at a tie"),
    # certificates
    (r"certificate\.certificate", r"-1e-9 < KL", TIE),
    (r"certificate\..*m_needed", r"q <= b", SAME + "kl(q, q) = 0"),
    (r"certificate\..*m_needed", r"m = 2\.0|range\(21\)", SAME + "a fixed point, reached long before"),
    (r"certificate\.m_needed", r"m < LARGEST_M", TIE),
    (r"kl\.kl(_inverses)?", r"asarray", DOUBLE),
    (
        r"multiclass\.multiclass_(margin_bound_uniform_at|objective_bound)",
        r"growth\(|\"W_M|total\(",
        SAME + "met before",
    ),
    (r"kl\.kl_inverses", r"c \* 2|< c$", "a bisection that starts from a wider interval, or a tie"),
    (r"multiclass\.kuznetsov_mohri_syed", r"ratio > 1", TIE),
    (r"unbounded\._index", r"<= share", TIE),
    (r"vote\._simplex", r"theta >= 0|< 1e-9", TIE),
    (r"vote\._expected_rising", r"N \+ 2|len\(theta\) / |theta\[-2:\]", BLOCK),
    (r"vote\._window", r"10 \*|1 \+ theta|2 - theta|- 6|\+ 21|length = ", WINDOW),
    (r"vote\._masses", r"mass \*=|astype", SAME + "a sum of masses is 1, up to rounding"),
    (r"vote\.(_grouped|vote_candidates|vote_setting)", r"", SEARCH),
    (r"vote_multiclass\.counts_kls", r"r >= 0", SAME + "rates of 0 were left out"),
    (r"vote_multiclass\._poisson_masses", r"array_split", BLOCK),
    (r"vote_multiclass\._poisson_masses", r"part \*=|\+ 28", WINDOW + ", so that a sum of masses is 1"),
    (r"vote_multiclass\._poisson_masses", r"width = |spread = |first = |np\.zeros", WINDOW),
    (r"vote_multiclass\._symmetric_half", r"ceil", WINDOW),
    (r"vote_multiclass\._check", r"< 1e-9|abs\(scores\) < ", TIE),
    (r"vote_multiclass\._check", r"dtype|p, \)", DOUBLE),
    (r"vote_multiclass\.(classes_empirical|vote_certificate_multiclass_at)", r"dtype|scores, \)", DOUBLE),
    (r"vote_multiclass\._errors", r"chunk = ", BLOCK),
    (r"vote_multiclass\._block", r"take_along_axis|at\[:, c\] >", WINDOW),
    (r"vote_multiclass\._block", r"2\.0|None", "what rounding leaves of a sum of masses above 1"),
    (
        r"vote_multiclass\.skellam_masses",
        r"half|falling|grown",
        WINDOW + ", and a recurrence that forgets its start and scale",
    ),
    (r"vote_multiclass\._normal_errors", r"", SEARCH),
    (r"(vote\._margins|vote_multiclass\.classes_candidates)", r"dtype|asarray", DOUBLE),
    (r"vote_multiclass\.classes_candidates", r"wanted|every|order|_EXACT|_STEPS", SEARCH),
]


if __name__ == "__main__":
    sys.exit(main())
