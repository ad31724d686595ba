// Loaded before the tests: properties are checked with the same values in each run, with random ones where PROOFS=long.
import { configureGlobal } from 'fast-check'
import { proofSeed } from './proofs.ts'

configureGlobal({ seed: proofSeed() })
