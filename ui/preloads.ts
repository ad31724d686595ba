/** Data of a page that its HTML names, so that the browser fetches them together with the script. */
export interface Preload {
  /** As in `routes.tsx`. */
  readonly pattern: string
  /** The module of the page, below `ui/`, unless it is part of the first script. */
  readonly page?: string
  /** What the page requests first, relative to the base address. A segment of the pattern is inserted by its name: `{context}`. */
  readonly data: readonly string[]
}

/** Who is signed in: every page requests it first, except the page of a public link. */
export const USER = 'auth/user'

/** The part of the list that *My files* requests first. */
export const FIRST_CONTEXTS = 'auth/user/contexts?access=write&limit=50&offset=0'

/**
 * Pages that people open directly. `scripts/build-ui.mjs` writes this list into the manifest, and the service into the HTML. It may only save
 * round trips: a page works in the same way without it.
 */
export const preloads: readonly Preload[] = [
  { pattern: '', data: [USER, FIRST_CONTEXTS] },
  { pattern: 'link', page: 'pages/visitor/visitor.tsx', data: [] },
  { pattern: 'account', page: 'pages/account.tsx', data: [USER] },
  {
    pattern: 'contexts/:context/files',
    page: 'pages/files/files.tsx',
    data: [USER, '_contexts/entry/{context}?includeAll'],
  },
]
