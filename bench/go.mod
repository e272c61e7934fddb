module github.com/murmurate/murmurate/bench

go 1.26.0
