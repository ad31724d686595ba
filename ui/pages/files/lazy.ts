import { lazy } from '../../lib/lazy.tsx'

/** The files of a context, whose code is not part of the first load. */
export const Files = lazy(async () => (await import('./files.tsx')).Files)
