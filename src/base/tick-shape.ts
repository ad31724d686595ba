import { executionAsyncResource } from 'node:async_hooks'

const kept: object[] = []

/**
 * Keeps `process.nextTick` fast in this thread. For each call Node makes an object with computed keys. The engine adds these quickly
 * while it knows the shape that they lead to. Between two turns of the event loop no such object is alive, so a collection of the whole
 * heap drops the shape, and each later call takes a slow path, for as long as the thread runs. One object that stays alive keeps the
 * shape (D34.20). Call this before the first such collection.
 */
export function keepTickShape(): void {
  process.nextTick(() => kept.push(executionAsyncResource()))
}
