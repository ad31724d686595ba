import { addressPromises } from './address-promises.ts'
import { filePromises } from './files-promises.ts'
import { limitPromises } from './limits-promises.ts'
import { messagePromises } from './messages-promises.ts'
import { operationPromises } from './operation-promises.ts'
import { rightsPromises } from './rights-promises.ts'
import { signInPromises } from './sign-in-promises.ts'
import type { Promised } from './promise.ts'

/** All promises, in the order in which they are checked and told. */
export const promises: readonly Promised[] = [
  ...addressPromises,
  ...messagePromises,
  ...signInPromises,
  ...filePromises,
  ...rightsPromises,
  ...operationPromises,
  ...limitPromises,
]
