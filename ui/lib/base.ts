/** Path of the base address of the service, as the page tells it; begins and ends with a slash. */
export const basePath: string = document.documentElement.dataset['base'] ?? '/'

/** Where the pages of the application begin. */
export const uiPath = `${basePath}ui/`

/** The address of a resource of the service. @param path without a leading slash */
export const address = (path: string): string => basePath + path

/** A part of a path. */
export const part = (text: string): string => encodeURIComponent(text)
