/** Path of the base address of the service, from an attribute of the page; begins and ends with a slash. */
export const basePath: string = document.documentElement.dataset['base'] ?? '/'

/** An e-mail address or web page where users without a context ask for one, from an attribute of the page. */
export const contact: string | undefined = document.documentElement.dataset['contact']

/** Path under which the pages of the application are. */
export const uiPath = `${basePath}ui/`

/** The path of a resource of the service. @param path without a leading slash */
export const address = (path: string): string => basePath + path

/** Encodes one segment of a path. */
export const part = (text: string): string => encodeURIComponent(text)

/** Says that a script asks, so that the service does not ask the browser for HTTP Basic. */
export const ofScript = { 'x-requested-with': 'XMLHttpRequest' } as const
