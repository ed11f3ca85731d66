//! The experiments of the repository, run by somebody who has only a clone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::program::{Instance, path_text};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A copy of the folder `experiments` without records, with no traces next to it.
fn clone(instance: &Instance) -> PathBuf {
    let root = instance.home.path().join("clone");
    for folder in ["experiments/definitions", "experiments/traces"] {
        fs::create_dir_all(root.join(folder)).unwrap();
        for file in fs::read_dir(Path::new(REPOSITORY).join(folder)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), root.join(folder).join(file.file_name())).unwrap();
        }
    }
    root
}

fn run_in(root: &Path, instance: &Instance, args: &[&str]) -> (Output, String) {
    let ended = instance.command(args).current_dir(root).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended, said)
}

#[test]
fn the_experiment_that_the_readme_names_runs_in_a_clone() {
    let readme = fs::read_to_string(Path::new(REPOSITORY).join("README.md")).unwrap();
    let mut calls =
        readme.split('`').filter_map(|code| code.strip_prefix("target/release/tidings "));
    let named = calls.find(|call| call.starts_with("lab experiment ")).unwrap();
    let args: Vec<&str> = named.split(' ').collect();
    let instance = Instance::new();
    let root = clone(&instance);
    let (ended, said) = run_in(&root, &instance, &args);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("using the sample instead"), "{said}");
    let day = fs::read_dir(root.join("experiments/records")).unwrap().next().unwrap().unwrap();
    let page = fs::read_to_string(day.path().join("all-policies/index.html")).unwrap();
    assert!(page.contains("Performed on a small sample"));
}

#[test]
fn a_definition_without_a_sample_says_which_trace_to_pass() {
    let instance = Instance::new();
    let root = clone(&instance);
    let definition = "experiments/definitions/equal-cost.toml";
    let (ended, said) = run_in(&root, &instance, &["lab", "experiment", definition]);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    for part in [definition, "congress_tweets.csv.gz is not there", "posts of US", "--trace FILE"] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
    // With `--trace` the definition runs; one of its expectations needs the whole trace.
    let sample = root.join("experiments/traces/congress_2018.csv.gz");
    let passed = ["lab", "experiment", definition, "--trace", path_text(&sample)];
    let (ended, said) = run_in(&root, &instance, &passed);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("holds"), "{said}");
}

#[test]
fn every_definition_that_needs_a_trace_says_what_it_holds() {
    let folder = Path::new(REPOSITORY).join("experiments/definitions");
    let mut n_traced = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let definition: toml::Table = text.parse().unwrap();
        let Some(world) = definition.get("world").filter(|w| w.get("traces").is_some()) else {
            continue;
        };
        n_traced += 1;
        assert!(world.get("origin").is_some(), "{}: no origin", file.display());
        let samples = world.get("sample").and_then(|s| s.as_array()).into_iter().flatten();
        for sample in samples.filter_map(|s| s.as_str()) {
            assert!(folder.join(sample).exists(), "{}: no {sample}", file.display());
        }
    }
    assert!(n_traced > 20, "{n_traced}");
}
