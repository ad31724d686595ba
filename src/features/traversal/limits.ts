/** How many links a traversal follows one after the other. */
export const MAX_DEPTH = 10
/** How many entries it gathers. */
export const MAX_ENTRIES = 1000
